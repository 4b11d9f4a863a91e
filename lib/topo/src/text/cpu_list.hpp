#pragma once

#include <string>
#include <vector>

namespace selvage::topo {

/// Ascending numbers with runs joined: {0, 1, 2, 5} -> "0-2,5"; "none" when empty.
[[nodiscard]] std::string format_cpu_list(const std::vector<int>& numbers);

}  // namespace selvage::topo
