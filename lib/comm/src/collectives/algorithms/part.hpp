#pragma once

#include <Kokkos_Macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// Consecutive elements.
struct Part {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// The part of `count` elements that a rank works on: whole cache lines of whatever type, but for the last.
[[nodiscard]] KOKKOS_INLINE_FUNCTION Part part_of(std::int64_t count, int rank, int ranks) {
  constexpr std::int64_t line = 64;
  const std::int64_t lines = (count + line - 1) / line;
  const std::int64_t begin = lines * rank / ranks * line;
  const std::int64_t end = lines * (rank + 1) / ranks * line;
  const std::int64_t first = begin < count ? begin : count;
  return {first, (end < count ? end : count) - first};
}

/// Of those parts.
[[nodiscard]] inline std::int64_t longest_part(std::int64_t count, int ranks) {
  std::int64_t longest = 0;
  for (int rank = 0; rank < ranks; ++rank) longest = std::max(longest, part_of(count, rank, ranks).count);
  return longest;
}
/// At most `most` elements of a rank's part, from its element `begin` on; there may be none.
[[nodiscard]] inline Part slice_of(std::int64_t count, int rank, int ranks, std::int64_t begin,
                                   std::int64_t most) {
  const Part part = part_of(count, rank, ranks);
  const std::int64_t skipped = std::min(begin, part.count);
  return {part.begin + skipped, std::min(most, part.count - skipped)};
}

/// Elements that hold any part of at most `count`.
[[nodiscard]] inline std::size_t most_part_of(std::int64_t count, int ranks) {
  constexpr std::int64_t line = 64;
  return static_cast<std::size_t>(count / ranks + 2 * line);
}

}  // namespace selvage::detail
