#include "tree_group.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

class TreeGroup final : public GroupCollective {
 public:
  TreeGroup(const GroupParts& parts, MakeTree make_tree, const MakeLink& make_link)
      : parts_(parts), tree_(make_tree(parts.place, parts.size())) {
    for (const int child : tree_.children) child_is_leaf_.push_back(make_tree(child, parts.size()).is_leaf());
    if (!tree_.is_root()) {
      const ReductionTree above = make_tree(tree_.parent, parts.size());
      turn_ = static_cast<int>(std::ranges::find(above.children, parts.place) - above.children.begin());
      parents_slots_ = above.slots;
    }
    const auto most = static_cast<std::size_t>(parts.most_count);
    if (!is_handing_on()) combined_ = parts.memory.allocate(most * accumulator_bytes(parts.values));
    link_ = make_link(parts, {.slots = tree_.slots,
                              .slot_bytes = most * accumulator_bytes(parts.values),
                              .result_bytes = most * element_bytes(parts.elements)});
  }

  bool combine(const std::byte* values, std::int64_t count) override {
    if (!is_open_) open(values, count);
    while (turns_made_ < children()) {
      if (!link_->has_arrived(child(turns_made_), slot_of(turns_made_))) return false;
      take_in(turns_made_, count);
    }
    if (!tree_.is_root() && !hand_up(values, count)) return false;
    turns_made_ = 0;
    is_open_ = false;
    return true;
  }

  [[nodiscard]] Part held(std::int64_t count) const override { return {0, tree_.is_root() ? count : 0}; }
  [[nodiscard]] const std::byte* combined() const override { return combined_; }

  bool share(std::byte* elements, std::int64_t count) override {
    const std::int64_t bytes = count * static_cast<std::int64_t>(element_bytes(parts_.elements));
    if (!is_offered_) {
      if (!tree_.is_root() && !link_->take(tree_.parent, elements, bytes)) return false;
      if (!tree_.is_leaf()) link_->offer(tree_.children, elements, bytes);
      is_offered_ = true;
    }
    if (!link_->is_flushed()) return false;
    is_offered_ = false;
    return true;
  }

  [[nodiscard]] std::string describe_late() const override { return link_->describe_late(); }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override { return link_->bytes_between_hosts(); }

 private:
  /// A leaf sends its values unchanged.
  [[nodiscard]] bool is_handing_on() const { return tree_.is_leaf() && !tree_.is_root(); }
  [[nodiscard]] int children() const { return static_cast<int>(tree_.children.size()); }
  [[nodiscard]] int child(int turn) const { return tree_.children[static_cast<std::size_t>(turn)]; }
  [[nodiscard]] int slot_of(int turn) const { return turn % tree_.slots; }
  [[nodiscard]] ElementType type_from(bool is_leaf) const {
    return is_leaf ? parts_.values : parts_.accumulators();
  }
  /// The block that the child of this turn sends to a rank with so many slots.
  [[nodiscard]] static SlotBlock block_of(int turn, int slots, ElementType type, std::int64_t count) {
    return {.slot = turn % slots,
            .bytes = count * static_cast<std::int64_t>(element_bytes(type)),
            .is_shared = turn >= slots};
  }

  /// Begins with this rank's values, and offers slots to the first children.
  void open(const std::byte* values, std::int64_t count) {
    is_open_ = true;
    if (!is_handing_on()) fold_in(parts_.values, values, true, count);
    for (int turn = 0; turn < std::min(tree_.slots, children()); ++turn) expect(turn, count);
  }
  void take_in(int turn, std::int64_t count) {
    fold_in(type_from(child_is_leaf_[static_cast<std::size_t>(turn)]), link_->slot(slot_of(turn)), false,
            count);
    ++turns_made_;
    if (turn + tree_.slots < children()) expect(turn + tree_.slots, count);
  }
  void expect(int turn, std::int64_t count) {
    const ElementType type = type_from(child_is_leaf_[static_cast<std::size_t>(turn)]);
    link_->expect(child(turn), block_of(turn, tree_.slots, type, count));
  }
  bool hand_up(const std::byte* values, std::int64_t count) {
    if (!is_sent_) {
      const SlotBlock block = block_of(turn_, parents_slots_, type_from(tree_.is_leaf()), count);
      is_sent_ = link_->send(tree_.parent, is_handing_on() ? values : combined_, block);
      if (!is_sent_) return false;
    }
    if (!link_->is_flushed()) return false;
    is_sent_ = false;
    return true;
  }
  void fold_in(ElementType type, const std::byte* values, bool is_first, std::int64_t count) {
    fold_on(type, parts_.operation, std::array{values}, is_first, combined_, count);
  }

  GroupParts parts_;
  ReductionTree tree_;
  std::vector<bool> child_is_leaf_;
  int turn_ = 0;  ///< of this rank among its parent's children
  int parents_slots_ = 0;
  std::byte* combined_ = nullptr;  ///< accumulators
  std::unique_ptr<GroupLink> link_;
  bool is_open_ = false;  ///< where combine() is
  int turns_made_ = 0;
  bool is_sent_ = false;
  bool is_offered_ = false;  ///< where share() is
};

}  // namespace

std::unique_ptr<GroupCollective> make_tree_group(const GroupParts& parts, MakeTree make_tree,
                                                 const MakeLink& make_link) {
  return std::make_unique<TreeGroup>(parts, make_tree, make_link);
}

}  // namespace selvage::detail
