#pragma once

#include "runtime/peer_blocks.hpp"

#include <algorithm>
#include <cstdint>

namespace selvage::detail {

/// The memory to which a rank puts from now on. Written by the owner of that memory.
struct LandingCard {
  SharedRange range;
  std::int64_t block_bytes = 0;  ///< of each of the two blocks
};

/// The new length of a block of `before` bytes that must hold `bytes`: half as much again, so that few operations grow it.
[[nodiscard]] inline std::int64_t grown_landing_bytes(std::int64_t bytes, std::int64_t before) {
  constexpr std::int64_t least = 4096;
  constexpr std::int64_t alignment = 128;
  const std::int64_t wanted = std::max({bytes, before * 3 / 2, least});
  return (wanted + alignment - 1) / alignment * alignment;
}

}  // namespace selvage::detail
