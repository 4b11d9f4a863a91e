#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace selvage::topo {

/// SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014): the same numbers with every
/// compiler and library, which std::shuffle and std::uniform_int_distribution don't promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// From 0 to below `bound`, all equally likely. \param bound  at least 1
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t unfair = (0 - bound) % bound;  // 2^64 mod bound
    std::uint64_t value = next();
    while (value < unfair) value = next();
    return value % bound;
  }

  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace selvage::topo
