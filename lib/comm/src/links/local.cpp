#include "local.hpp"

namespace selvage::detail {
namespace {

class LocalTransport final : public Link {
 public:
  explicit LocalTransport(const TransportParts& parts) {
    const Neighbour& self = parts.peers.front().neighbour;
    for (const Field& field : parts.fields) {
      const Layout layout{.strides = field.strides, .element_bytes = field.element_bytes};
      std::vector<Contribution>& contributions = contributions_.emplace_back();
      for (const Boundary& boundary : self.boundaries) {
        const Region owned = in_field(boundary.owned, field, parts.axes);
        const Region ghost = in_field(boundary.peer_ghost, field, parts.axes);
        if (owned.elements() == 0) continue;
        copies_.push_back(view_to_view(field.data, layout, owned, field.data, layout, ghost, BoxUse::move));
        contributions.push_back(
            {boundary.direction, self.rank,
             view_to_view(field.data, layout, ghost, field.data, layout, owned, BoxUse::combine)});
      }
      copies_end_.push_back(copies_.size());
    }
  }

  void start(const Step& step) override {
    if (step.reverse) return;
    // Fields that follow each other in one call, which is one launch on a GPU.
    std::size_t begin = 0;
    std::size_t end = 0;
    const auto copy = [&] {
      if (end > begin) step.executor.copy(std::span(copies_).subspan(begin, end - begin));
    };
    for (std::size_t field = 0; field < copies_end_.size(); ++field) {
      if (!step.has(field)) {
        copy();
        begin = copies_end_[field];
      }
      end = copies_end_[field];
    }
    copy();
  }

  bool progress(const Step&) override { return true; }

  void prepare_capture(std::uint64_t) override {}

  /// Read straight from the ghosts: owned cells and ghosts don't overlap.
  void append_contributions(std::size_t field, std::vector<Contribution>& contributions) const override {
    contributions.insert(contributions.end(), contributions_[field].begin(), contributions_[field].end());
  }

  [[nodiscard]] std::string describe_late(const Step&) const override { return {}; }

 private:
  std::vector<CopyBox> copies_;          ///< of all fields, one after another
  std::vector<std::size_t> copies_end_;  ///< by field
  std::vector<std::vector<Contribution>> contributions_;
};

}  // namespace

std::unique_ptr<Link> make_local_transport(TransportParts parts) {
  return std::make_unique<LocalTransport>(parts);
}

}  // namespace selvage::detail
