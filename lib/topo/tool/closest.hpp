#pragma once

#include <string>
#include <vector>

namespace selvage::topo {

/// The candidate that takes the fewest single-letter edits to reach from `word`.
/// \return an empty string when even that takes more than a third of its letters, and at least two
[[nodiscard]] std::string closest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace selvage::topo
