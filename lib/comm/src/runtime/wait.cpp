#include "wait.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <sched.h>

#include <ctime>

namespace selvage::detail {
namespace {

/// A yield that took longer met a thread that computes, and not one that polls.
constexpr auto long_yield = std::chrono::milliseconds(1);
/// After these it tries again whether that thread has gone.
constexpr int sleeps_after_long_yield = 32;

thread_local int sleeps_left = 0;

}  // namespace

/// A thread that yields to one that computes gets its core back when the scheduler's time slices are over: on Linux 6.18 after
/// about 2 ms. After a sleep it goes first, and the shortest sleep takes about 60 us (the kernel's timer slack).
void give_way() {
  if (sleeps_left > 0) {
    --sleeps_left;
    const std::timespec shortest{0, 1};
    nanosleep(&shortest, nullptr);
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  sched_yield();
  if (std::chrono::steady_clock::now() - begin > long_yield) sleeps_left = sleeps_after_long_yield;
}

void throw_late(std::chrono::milliseconds timeout, const std::string& late) {
  throw Error(ErrorKind::timeout, fmt::format("waited {} ms for {}", timeout.count(), late));
}

}  // namespace selvage::detail
