#pragma once

#include <cstdint>
#include <utility>

namespace selvage::detail {

/// What an Owner has started and not finished yet: its epoch, and 0 once it was moved from. Only its owner makes and reads it.
template <class Owner>
class [[nodiscard]] PendingEpoch {
 public:
  PendingEpoch(PendingEpoch&& other) noexcept : epoch_(std::exchange(other.epoch_, 0)) {}
  PendingEpoch& operator=(PendingEpoch&& other) noexcept {
    epoch_ = std::exchange(other.epoch_, 0);
    return *this;
  }

 private:
  friend Owner;
  explicit PendingEpoch(std::uint64_t epoch) : epoch_(epoch) {}
  std::uint64_t epoch_;
};

}  // namespace selvage::detail
