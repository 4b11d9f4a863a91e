#pragma once

#include "common/hdf5_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace selvage::app {

/// An array cut into blocks, each with a checksum of its own: who reads a part of the array verifies the blocks that the part
/// touches.
///
/// A block's checksum is the sum, mod 2^64, of a hash of each value's bits and place. So ranks that have parts of a block add
/// their sums up in any order, and a file's checksums don't depend on how many ranks wrote it. A single value that is another
/// always changes the sum, since the hash is a bijection of the bits; several ones go unseen with probability 2^-64.
class ChecksumBlocks {
 public:
  /// Blocks of 1 MiB or less, and of larger arrays at most 4096 of them: their checksums fit into an attribute, which HDF5
  /// limits to 64 KiB. \param extent  1 to 3 axes, none of them empty
  ChecksumBlocks(const std::vector<std::int64_t>& extent, ElementType type);
  /// The blocks of a file. \param block  extents of a block
  /// \throws Error{usage} where the two don't have the same 1 to 3 axes, all above 0
  ChecksumBlocks(const std::vector<std::int64_t>& extent, const std::vector<std::int64_t>& block);

  [[nodiscard]] const std::vector<std::int64_t>& block() const { return block_; }
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] ArrayBox box_of(std::size_t number) const;
  /// The numbers of the blocks that have a cell of the box.
  [[nodiscard]] std::vector<std::size_t> touching(const ArrayBox& box) const;

  /// Adds the values of a box to the sums of their blocks. \param values  in host memory, row-major
  /// \param sums  count() of them
  void add(const ArrayBox& box, ElementType type, const void* values, std::span<std::uint64_t> sums) const;

 private:
  using Index = std::array<std::int64_t, 3>;

  [[nodiscard]] std::size_t axes() const { return extent_.size(); }
  /// With axes of one cell before the slowest.
  [[nodiscard]] static Index padded(const std::vector<std::int64_t>& values, std::int64_t with);
  template <class Bits>
  void add_bits(const ArrayBox& box, const std::byte* values, std::span<std::uint64_t> sums) const;

  std::vector<std::int64_t> extent_;
  std::vector<std::int64_t> block_;
  Index blocks_{};  ///< along each axis
};

}  // namespace selvage::app
