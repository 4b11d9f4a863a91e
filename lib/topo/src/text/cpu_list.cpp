#include "cpu_list.hpp"

#include <fmt/format.h>

namespace selvage::topo {

std::string format_cpu_list(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text +=
        first == last ? fmt::to_string(numbers[first]) : fmt::format("{}-{}", numbers[first], numbers[last]);
    first = last + 1;
  }
  return text.empty() ? "none" : text;
}

}  // namespace selvage::topo
