#include "common/checksum_blocks.hpp"

#include <selvage/error.hpp>

#include <algorithm>
#include <cstring>

namespace selvage::app {
namespace {

constexpr std::int64_t block_bytes = std::int64_t{1} << 20;
/// Halved axes are rounded up, so there may be nearly twice as many.
constexpr std::int64_t aimed_at_blocks = 2048;

/// SplitMix64's step and finaliser (Steele, Lea and Flood, OOPSLA 2014), a bijection.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27) * 0x94d049bb133111ebU;
  return value ^ value >> 31;
}

/// \param place  of the first of the values in the whole array
template <class Bits>
std::uint64_t sum_of(const std::byte* values, std::int64_t place, std::int64_t count) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, values + i * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
    sum += mixed(bits + mixed(static_cast<std::uint64_t>(place + i)));
  }
  return sum;
}

std::vector<std::int64_t> block_for(std::vector<std::int64_t> extent, ElementType type) {
  const auto bytes = [&] {
    return ArrayBox{std::vector<std::int64_t>(extent.size(), 0), extent}.count() *
           static_cast<std::int64_t>(bytes_of(type));
  };
  const std::int64_t most = std::max(block_bytes, bytes() / aimed_at_blocks);
  while (bytes() > most) {
    const auto longest = std::ranges::max_element(extent);
    *longest = (*longest + 1) / 2;
  }
  return extent;
}

std::int64_t blocks_along(std::int64_t cells, std::int64_t of_block) {
  return (cells + of_block - 1) / of_block;
}

}  // namespace

ChecksumBlocks::ChecksumBlocks(const std::vector<std::int64_t>& extent, ElementType type)
    : ChecksumBlocks(extent, block_for(extent, type)) {}

ChecksumBlocks::ChecksumBlocks(const std::vector<std::int64_t>& extent,
                               const std::vector<std::int64_t>& block)
    : extent_(extent), block_(block) {
  const auto is_positive = [](std::int64_t cells) { return cells > 0; };
  if (axes() < 1 || axes() > 3 || block.size() != axes() || !std::ranges::all_of(extent, is_positive) ||
      !std::ranges::all_of(block, is_positive)) {
    throw Error(ErrorKind::usage, "blocks need an array of 1 to 3 axes, and as many themselves");
  }
  const Index cells = padded(extent_, 1);
  const Index of_block = padded(block_, 1);
  std::ranges::transform(cells, of_block, blocks_.begin(), blocks_along);
}

ChecksumBlocks::Index ChecksumBlocks::padded(const std::vector<std::int64_t>& values, std::int64_t with) {
  Index result;
  result.fill(with);
  std::ranges::copy(values, result.end() - static_cast<std::ptrdiff_t>(values.size()));
  return result;
}

std::size_t ChecksumBlocks::count() const {
  return static_cast<std::size_t>(blocks_[0] * blocks_[1] * blocks_[2]);
}

ArrayBox ChecksumBlocks::box_of(std::size_t number) const {
  ArrayBox box{std::vector<std::int64_t>(axes()), extent_};
  auto rest = static_cast<std::int64_t>(number);
  for (std::size_t axis = axes(); axis-- > 0;) {
    const std::int64_t along = blocks_[axis + 3 - axes()];
    box.begin[axis] = rest % along * block_[axis];
    box.end[axis] = std::min(box.begin[axis] + block_[axis], extent_[axis]);
    rest /= along;
  }
  return box;
}

std::vector<std::size_t> ChecksumBlocks::touching(const ArrayBox& box) const {
  std::vector<std::size_t> numbers;
  if (box.count() == 0) return numbers;
  const Index of_block = padded(block_, 1);
  Index first = padded(box.begin, 0);
  Index end = padded(box.end, 1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] /= of_block[axis];
    end[axis] = blocks_along(end[axis], of_block[axis]);
  }
  for (std::int64_t i = first[0]; i < end[0]; ++i)
    for (std::int64_t j = first[1]; j < end[1]; ++j)
      for (std::int64_t k = first[2]; k < end[2]; ++k)
        numbers.push_back(static_cast<std::size_t>((i * blocks_[1] + j) * blocks_[2] + k));
  return numbers;
}

template <class Bits>
void ChecksumBlocks::add_bits(const ArrayBox& box, const std::byte* values,
                              std::span<std::uint64_t> sums) const {
  const Index cells = padded(extent_, 1);
  const Index of_block = padded(block_, 1);
  const Index begin = padded(box.begin, 0);
  const Index end = padded(box.end, 1);
  // Where rows lie next to each other, a block's are one run: rows may be as short as an atom's coordinates.
  const bool has_whole_rows = begin[2] == 0 && end[2] == cells[2] && of_block[2] >= cells[2];
  for (std::int64_t i = begin[0]; i < end[0]; ++i) {
    for (std::int64_t j = begin[1]; j < end[1];) {
      const std::int64_t first_block = (i / of_block[0] * blocks_[1] + j / of_block[1]) * blocks_[2];
      const std::int64_t row = (i * cells[1] + j) * cells[2];
      const std::int64_t rows =
          has_whole_rows ? std::min(end[1], (j / of_block[1] + 1) * of_block[1]) - j : 1;
      for (std::int64_t k = begin[2]; k < end[2];) {
        const std::int64_t block = k / of_block[2];
        const std::int64_t of_row = std::min(end[2], (block + 1) * of_block[2]) - k;
        sums[static_cast<std::size_t>(first_block + block)] += sum_of<Bits>(values, row + k, rows * of_row);
        values += rows * of_row * static_cast<std::int64_t>(sizeof(Bits));
        k += of_row;
      }
      j += rows;
    }
  }
}

void ChecksumBlocks::add(const ArrayBox& box, ElementType type, const void* values,
                         std::span<std::uint64_t> sums) const {
  const auto* bytes = static_cast<const std::byte*>(values);
  if (bytes_of(type) == 4) return add_bits<std::uint32_t>(box, bytes, sums);
  add_bits<std::uint64_t>(box, bytes, sums);
}

}  // namespace selvage::app
