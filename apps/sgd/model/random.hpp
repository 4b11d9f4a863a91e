#pragma once

#include <cstdint>

namespace selvage::sgd {

/// A stream of random bits that is the same on every rank: splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
/// Number Generators, OOPSLA 2014), begun by a seed and a number of the stream.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(seed) { state_ = next() ^ stream; }

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  /// In [0, 1), a multiple of 2^-24: every value is an fp32 number.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24F; }
  /// In [0, bound); the low values are more likely by at most bound / 2^64.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace selvage::sgd
