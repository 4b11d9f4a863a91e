#pragma once

#include <algorithm>
#include <cstdint>

namespace selvage {

/// How long a wait with this limit goes on before the user is told what is waited for: 5 s, or a third of the limit where that
/// is less.
[[nodiscard]] constexpr std::int64_t silence_ms(std::int64_t timeout_ms) {
  constexpr std::int64_t longest_ms = 5'000;
  return std::min(longest_ms, timeout_ms / 3);
}

}  // namespace selvage
