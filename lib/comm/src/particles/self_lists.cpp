#include "list_path.hpp"

#include <array>

namespace selvage::detail {
namespace {

class SelfLists final : public ListPath {
 public:
  void connect(std::span<ListLink* const> links, Executor&) override {
    if (!links.empty()) link_ = links.front();
  }
  void start(const ListStep& step) override {
    is_packed_ = has_come_ = link_ == nullptr || step.bytes(step.sent(*link_)) == 0;
    if (!is_packed_) block_.reserve<std::byte>(step.bytes(step.sent(*link_)), step.executor);
  }
  bool put(const ListStep& step) override {
    if (is_packed_) return true;
    const ListRange& range = step.sent(*link_);
    const std::array parts{ListPart{block_.as<std::byte>(), range.first, range.count}};
    step.mover->pack(parts);
    is_packed_ = true;
    return true;
  }
  bool progress(const ListStep& step) override {
    if (has_come_) return true;
    const ListRange& range = step.received(*link_);
    step.arrivals->push_back({link_, {block_.as<std::byte>(), range.first, range.count}});
    has_come_ = true;
    return true;
  }
  void fail(const ListStep&) override {}
  [[nodiscard]] std::string describe_late(const ListStep&) const override { return {}; }

 private:
  ListLink* link_ = nullptr;
  GrowingBuffer block_;
  bool is_packed_ = true;
  bool has_come_ = true;
};

}  // namespace

std::unique_ptr<ListPath> make_self_lists() {
  return std::make_unique<SelfLists>();
}

}  // namespace selvage::detail
