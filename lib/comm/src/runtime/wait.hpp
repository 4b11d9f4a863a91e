#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace selvage::detail {

/// The end of a wait. It reads the clock only now and then, so that polling stays cheap, and not at all in a wait of a few polls. A rank
/// that had no core until its time was over polls a few times more, since what it waits for may have arrived long ago.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds timeout) : timeout_(timeout) {}

  [[nodiscard]] bool passed() {
    if (++polls_ % polls_per_look != 0) return false;
    const auto now = std::chrono::steady_clock::now();
    // The time begins here, so that a short wait doesn't read the clock.
    if (polls_ == polls_per_look) end_ = now + timeout_;
    return std::exchange(was_over_, now >= end_);
  }

 private:
  // Where ranks share cores a poll takes a time slice of each of the others.
  static constexpr std::uint64_t polls_per_look = 8;
  std::chrono::milliseconds timeout_;
  std::chrono::steady_clock::time_point end_;
  std::uint64_t polls_ = 0;
  bool was_over_ = false;  ///< at the last reading of the clock
};

/// Lets other threads have this one's core until the next poll.
void give_way();

/// The pause between two polls: spins for a while where the rank has a core of its own, and otherwise gives way at once.
class Backoff {
 public:
  explicit Backoff(bool yields) : spins_left_(yields ? 0 : most_spins) {}

  void pause() {
    if (spins_left_ > 0) {
      --spins_left_;
      relax();
    } else {
      give_way();
    }
  }

 private:
  // About 100 us: longer than a late neighbour usually is, short against a scheduler's time slice.
  static constexpr int most_spins = 2000;

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  int spins_left_;
};

[[noreturn]] void throw_late(std::chrono::milliseconds timeout, const std::string& late);

/// Polls `done` until it returns true, or the time is over. Allocates no memory. \return what `done` returned last
template <class Done>
[[nodiscard]] bool poll_until(std::chrono::milliseconds timeout, bool yields, const Done& done) {
  Deadline deadline(timeout);
  Backoff backoff(yields);
  while (!done()) {
    if (deadline.passed()) return false;
    backoff.pause();
  }
  return true;
}

/// The same. \throws Error{timeout} with the text of `describe_late`
template <class Done, class DescribeLate>
void wait_until(std::chrono::milliseconds timeout, bool yields, const Done& done,
                const DescribeLate& describe_late) {
  if (!poll_until(timeout, yields, done)) throw_late(timeout, describe_late());
}

}  // namespace selvage::detail
