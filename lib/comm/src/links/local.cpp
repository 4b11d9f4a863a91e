#include "local.hpp"

namespace selvage::detail {
namespace {

class LocalTransport final : public Link {
 public:
  explicit LocalTransport(const TransportParts& parts) {
    for (const Field& field : parts.fields) {
      const Layout layout{.strides = field.strides, .element_bytes = field.element_bytes};
      std::vector<CopyBox>& copies = copies_.emplace_back();
      std::vector<Contribution>& contributions = contributions_.emplace_back();
      for (const Boundary& boundary : parts.peers.front().neighbour.boundaries) {
        const Region owned = in_field(boundary.owned, field, parts.axes);
        const Region ghost = in_field(boundary.peer_ghost, field, parts.axes);
        if (owned.elements() == 0) continue;
        copies.push_back(view_to_view(field.data, layout, owned, field.data, layout, ghost, BoxUse::move));
        contributions.push_back({boundary.direction, view_to_view(field.data, layout, ghost, field.data,
                                                                  layout, owned, BoxUse::combine)});
      }
    }
  }

  void start(const Step& step) override {
    if (step.reverse) return;
    for (std::size_t field = 0; field < copies_.size(); ++field) {
      if (step.has(field)) step.executor.copy(copies_[field]);
    }
  }

  bool progress(const Step&) override { return true; }

  void prepare_capture(std::uint64_t) override {}

  /// Read straight from the ghosts: owned cells and ghosts don't overlap.
  void append_contributions(std::size_t field, std::vector<Contribution>& contributions) const override {
    contributions.insert(contributions.end(), contributions_[field].begin(), contributions_[field].end());
  }

  [[nodiscard]] std::string describe_late(const Step&) const override { return {}; }

 private:
  std::vector<std::vector<CopyBox>> copies_;
  std::vector<std::vector<Contribution>> contributions_;
};

}  // namespace

std::unique_ptr<Link> make_local_transport(TransportParts parts) {
  return std::make_unique<LocalTransport>(parts);
}

}  // namespace selvage::detail
