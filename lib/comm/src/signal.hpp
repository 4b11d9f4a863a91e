#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// A 64-bit epoch that one rank writes and one rank reads; it only grows. On a line of its own, so that
/// neither side's polling disturbs a neighbouring flag.
struct alignas(128) Flag {
  std::uint64_t epoch = 0;
};

/// Publishes everything the writer did before to the flag's reader.
inline void release_epoch(Flag& flag, std::uint64_t epoch) {
  std::atomic_ref<std::uint64_t>(flag.epoch).store(epoch, std::memory_order_release);
}

/// When it returns an epoch, all that its writer did before release_epoch is visible here.
[[nodiscard]] inline std::uint64_t acquire_epoch(const Flag& flag) {
  return std::atomic_ref<std::uint64_t>(const_cast<Flag&>(flag).epoch).load(std::memory_order_acquire);
}

/// Right also after 2^64 epochs.
[[nodiscard]] inline bool has_reached(std::uint64_t seen, std::uint64_t wanted) {
  return static_cast<std::int64_t>(seen - wanted) >= 0;
}

}  // namespace selvage::detail
