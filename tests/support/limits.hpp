#pragma once

namespace selvage::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// How much longer the same takes than in an ordinary build.
inline constexpr int slowness = 5;
#else
inline constexpr int slowness = 1;
#endif

/// A limit of the library, for tests: as many milliseconds, more where all is slow.
constexpr int limit_ms(int milliseconds) {
  return slowness * milliseconds;
}

}  // namespace selvage::test
