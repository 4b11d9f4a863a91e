#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace selvage::test {

/// How much longer the same takes than in an ordinary build on an ordinary machine: TEST_SLOWNESS (scripts/test.sh sets it where
/// the machine is slow), five times that under sanitizers.
inline int slowness() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int of_build = 5;
#else
  constexpr int of_build = 1;
#endif
  const char* const text = std::getenv("TEST_SLOWNESS");
  const int of_machine = text == nullptr ? 1 : std::stoi(text);
  if (of_machine < 1 || of_machine > 100)
    throw std::invalid_argument("TEST_SLOWNESS=" + std::string(text) + " is not from 1 to 100");
  return of_build * of_machine;
}

/// A limit of the library, for tests: as many milliseconds, more where all is slow.
inline int limit_ms(int milliseconds) {
  return slowness() * milliseconds;
}

}  // namespace selvage::test
