#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

namespace selvage {

/// How long a wait with this limit goes on before the user is told what is waited for: 5 s, or a third of the limit where that
/// is less.
[[nodiscard]] constexpr std::int64_t silence_ms(std::int64_t timeout_ms) {
  constexpr std::int64_t longest_ms = 5'000;
  return std::min(longest_ms, timeout_ms / 3);
}

/// together() of <selvage/agreement.hpp>, and after silence_ms() rank 0 tells the user on standard error who is late. For
/// programs: a library leaves that to whoever calls it.
void together_telling(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
                      std::int64_t timeout_ms);

}  // namespace selvage
