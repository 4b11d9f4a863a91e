#pragma once

#include "records.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace selvage::bench {

/// What was measured under one name.
struct Figure {
  double seconds = 0;                           ///< the time that Google Benchmark prints
  std::map<std::string, double> counters = {};  ///< what it prints beside that
  std::vector<Record> records = {};
  std::string label = {};
};

/// Registers a benchmark that measures once, when its turn comes: Trials repeat by themselves.
/// \param records  the figure's are appended; must outlive the run
void register_figure(const std::string& name, std::vector<Record>& records, std::function<Figure()> measure);

}  // namespace selvage::bench
