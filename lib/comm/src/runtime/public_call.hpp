#pragma once

#include <selvage/comm/detail/device_scope.hpp>

#include <atomic>

namespace selvage::detail {

/// Which thread is in a call on an object of a Context; null for none. The calling thread stores itself and, at the end of the call,
/// null. Other threads of the process read it, to refuse their calls; it publishes nothing else. There is no lock: two calls
/// that begin within the same few nanoseconds may both go on.
using CallingThread = std::atomic<const void*>;

/// A public call on an object of a Context, on its GPU. Calls of one thread may nest: an update of ShardedBuckets may use other objects.
class PublicCall {
 public:
  /// \throws Error{usage} where another thread is in a call on the same Context
  PublicCall(CallingThread& calling, int device, int rank) : claim_(calling, rank), scope_(device) {}

 private:
  class Claim {
   public:
    Claim(CallingThread& calling, int rank) {
      static thread_local const char self = 0;
      const void* const before = calling.load(std::memory_order_relaxed);
      if (before == &self) return;
      if (before != nullptr) refuse(rank);
      calling.store(&self, std::memory_order_relaxed);
      claimed_ = &calling;
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() {
      if (claimed_ != nullptr) claimed_->store(nullptr, std::memory_order_relaxed);
    }

   private:
    [[noreturn]] static void refuse(int rank);

    CallingThread* claimed_ = nullptr;  ///< null in a nested call
  };

  Claim claim_;
  DeviceScope scope_;
};

}  // namespace selvage::detail
