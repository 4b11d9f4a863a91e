#include <selvage/suggestion.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace selvage {
namespace {

/// Edits that turn `a` into `b`, with swapped neighbours as one edit (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string closest(std::string_view word, std::span<const std::string> candidates) {
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string best;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    // Nothing in common is not a slip, however short the two are.
    if (distance >= least || distance >= std::max(word.size(), candidate.size())) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string best = closest(word, candidates);
  return best.empty() ? "" : fmt::format(", did you mean '{}'?", best);
}

}  // namespace selvage
