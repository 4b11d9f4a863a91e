#pragma once

#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/traffic.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace selvage::topo {

/// \throws Error{input} "<what> pass 64 bits"
inline std::uint64_t checked_sum(std::uint64_t a, std::uint64_t b, std::string_view what) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw Error(ErrorKind::input, std::string(what) + " pass 64 bits");
  return sum;
}

/// \throws Error{input} "<what> pass 64 bits"
inline std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::string_view what) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw Error(ErrorKind::input, std::string(what) + " pass 64 bits");
  }
  return product;
}

/// From host and device memory together. \throws Error{input} when they pass 64 bits
inline std::uint64_t bytes_of(const TrafficEntry& entry) {
  return checked_sum(entry.host.bytes, entry.device.bytes, "bytes between two ranks");
}

/// \throws Error{input} where there are more ranks than slots
inline void check_fit(std::size_t ranks, int slots) {
  if (slots >= 0 && ranks <= static_cast<std::size_t>(slots)) return;
  throw Error(ErrorKind::input,
              fmt::format("{} don't fit in {}", counted(static_cast<std::int64_t>(ranks), "rank"),
                          counted(std::max(slots, 0), "slot")));
}

}  // namespace selvage::topo
