#pragma once

#include <cstdint>
#include <utility>

namespace selvage::detail {

/// What a plan of an Owner has started and not finished yet. Only its owner makes and takes it.
template <class Owner>
class [[nodiscard]] PendingEpoch {
 public:
  PendingEpoch(PendingEpoch&& other) noexcept : plan_(other.plan_), epoch_(std::exchange(other.epoch_, 0)) {}
  PendingEpoch& operator=(PendingEpoch&& other) noexcept {
    plan_ = other.plan_;
    epoch_ = std::exchange(other.epoch_, 0);
    return *this;
  }

 private:
  friend Owner;
  PendingEpoch(const void* plan, std::uint64_t epoch) : plan_(plan), epoch_(epoch) {}
  /// \return the epoch, once; 0 for another plan's, which stays, and for what was moved from
  [[nodiscard]] std::uint64_t take(const void* plan) { return plan == plan_ ? std::exchange(epoch_, 0) : 0; }

  const void* plan_;
  std::uint64_t epoch_;
};

}  // namespace selvage::detail
