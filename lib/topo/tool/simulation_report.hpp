#pragma once

#include <selvage/topo/simulation.hpp>

#include <string>
#include <vector>

namespace selvage::topo::tool {

/// One record per method of each case, a JSON array: docs/performance/README.md says what the fields are.
[[nodiscard]] std::string records_json(const std::vector<SimulationResult>& results);

/// A Markdown table with a row per case and a column per method.
[[nodiscard]] std::string results_table(const std::vector<SimulationResult>& results);

}  // namespace selvage::topo::tool
