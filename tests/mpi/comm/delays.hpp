#pragma once

#include <sched.h>

#include <chrono>
#include <random>

namespace selvage::test {

/// Now and then a rank gives its core away, or is late by some hundred microseconds: once in `between` times.
class Delays {
 public:
  Delays(int rank, unsigned between) : engine_(rank + 1), between_(between) {}
  void maybe() {
    const unsigned dice = engine_();
    if (dice % 64 == 0) sched_yield();
    if (dice % between_ == 1) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(dice / 4096 % 300);
      while (std::chrono::steady_clock::now() < end) continue;
    }
  }

 private:
  std::minstd_rand engine_;
  unsigned between_;
};

}  // namespace selvage::test
