#pragma once

#include <functional>
#include <string>
#include <vector>

namespace selvage::tune {

/// What another algorithm must gain over the built-in rule's: less may be noise.
inline constexpr double least_speedup = 1.03;

/// The algorithm to write down for a size: the built-in rule's, or the fastest of those that clearly beat it.
/// \param speedup  how many times faster the first is than the second
[[nodiscard]] inline std::string fastest(
    const std::vector<std::string>& names, const std::string& by_rule,
    const std::function<double(const std::string&, const std::string&)>& speedup) {
  std::string best = by_rule;
  for (const std::string& name : names) {
    if (speedup(name, by_rule) >= least_speedup && speedup(name, best) > 1) best = name;
  }
  return best;
}

}  // namespace selvage::tune
