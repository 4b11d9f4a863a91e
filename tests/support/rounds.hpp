#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

namespace selvage::test {

/// How many rounds a stress test makes: TEST_ROUNDS, or ten thousand, which is more than any ring of the library has slots.
/// \param most  of those that are slow
inline int stress_rounds(int most = std::numeric_limits<int>::max()) {
  const char* const text = std::getenv("TEST_ROUNDS");
  if (text == nullptr) return std::min(10'000, most);
  std::size_t end = 0;
  const int rounds = std::stoi(text, &end);
  if (end != std::string(text).size() || rounds < 1)
    throw std::invalid_argument("TEST_ROUNDS=" + std::string(text) + " is no number of rounds");
  return std::min(rounds, most);
}

}  // namespace selvage::test
