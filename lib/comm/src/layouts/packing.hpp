#pragma once

#include "neighbourhood.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace selvage::detail {

/// Which side of a pair's traffic a packed block holds.
enum class BoundarySide {
  owned,  ///< cells this rank owns and the neighbour keeps as ghosts
  ghost,  ///< ghosts of this rank that the neighbour owns
};

/// Where each field and direction lies in the packed block that two neighbours exchange.
///
/// The block is ordered by field, then by the owner's direction ascending, so that one side's `owned` block
/// and the other side's `ghost` block are the same bytes. Each field starts aligned: elements are read from
/// the block where they lie.
class Packing {
 public:
  static constexpr std::int64_t field_alignment = 16;

  struct Slot {
    Direction direction;
    Region region;
    std::int64_t offset_bytes;
  };

  Packing(const Neighbour& neighbour, std::span<const Field> fields, int axes, BoundarySide side);

  /// The neighbour's.
  [[nodiscard]] int rank() const { return rank_; }
  /// Of the block, gaps between fields included.
  [[nodiscard]] std::int64_t bytes() const { return begins_.back(); }
  [[nodiscard]] std::int64_t payload_bytes() const { return payload_bytes_; }
  [[nodiscard]] std::int64_t field_begin(std::size_t field) const { return begins_[field]; }
  [[nodiscard]] std::int64_t field_bytes(std::size_t field) const {
    return begins_[field + 1] - begins_[field];
  }
  /// By ascending offset.
  [[nodiscard]] std::span<const Slot> slots(std::size_t field) const { return slots_[field]; }

 private:
  int rank_;
  std::vector<std::int64_t> begins_{0};
  std::int64_t payload_bytes_ = 0;
  std::vector<std::vector<Slot>> slots_;
};

/// Copies that pack one field into a block, and that unpack it again. The block has the order of axes of the owner's View, which both
/// ranks know: consecutive threads then access consecutive elements of the block. \param owners  the layout of that View
[[nodiscard]] std::vector<CopyBox> pack_boxes(const Packing& packing, std::size_t index, const Field& field,
                                              std::byte* block, const Layout& owners);
[[nodiscard]] std::vector<CopyBox> unpack_boxes(const Packing& packing, std::size_t index, const Field& field,
                                                const std::byte* block, const Layout& owners);

/// A value that has arrived for cells this rank owns, to be folded in by direction, then by rank.
struct Contribution {
  Direction direction;
  int rank;
  CopyBox box;
};
[[nodiscard]] std::vector<Contribution> contributions_of(const Packing& owned, std::size_t index,
                                                         const Field& field, const std::byte* block);

}  // namespace selvage::detail
