#pragma once

#include <Kokkos_Macros.hpp>

#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// Consecutive elements.
struct Part {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// The part of `count` elements that a rank combines for all: whole cache lines, but for the last.
[[nodiscard]] KOKKOS_INLINE_FUNCTION Part part_of(std::int64_t count, int rank, int ranks,
                                                  std::size_t element_bytes) {
  constexpr std::int64_t line_bytes = 128;
  const std::int64_t line = line_bytes / static_cast<std::int64_t>(element_bytes);
  const std::int64_t lines = (count + line - 1) / line;
  const std::int64_t begin = lines * rank / ranks * line;
  const std::int64_t end = lines * (rank + 1) / ranks * line;
  const std::int64_t first = begin < count ? begin : count;
  return {first, (end < count ? end : count) - first};
}

/// Elements that hold any part of at most `count`.
[[nodiscard]] inline std::size_t most_part_of(std::int64_t count, int ranks) {
  constexpr std::int64_t longest_line = 64;  // of 16-bit elements
  return static_cast<std::size_t>(count / ranks + 2 * longest_line);
}

}  // namespace selvage::detail
