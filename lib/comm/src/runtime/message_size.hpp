#pragma once

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <limits>

namespace selvage::detail {

/// MPI counts the bytes of a message in an int.
/// \throws Error{unsupported} for a message that is longer
[[nodiscard]] inline int message_size(std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    throw Error(ErrorKind::unsupported,
                fmt::format("a message of {} bytes is more than MPI counts to", bytes));
  }
  return static_cast<int>(bytes);
}

}  // namespace selvage::detail
