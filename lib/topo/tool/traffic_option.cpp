#include "traffic_option.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/traffic_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace selvage::topo::tool {

Pattern traffic_of(const TrafficOptions& options) {
  if (options.traffic.empty() == options.pattern.empty()) {
    throw Error(ErrorKind::usage, "one of --traffic FILE and --pattern NAME is needed");
  }
  Pattern pattern;
  if (options.pattern.empty()) {
    pattern.traffic = read_traffic(options.traffic);
    pattern.name = std::filesystem::path(options.traffic).stem().string();
  } else {
    pattern = pattern_named(options.pattern);
  }
  if (!options.grid.empty()) pattern.grid = parse_dims(options.grid, "--grid");
  int ranks = 1;
  for (const int extent : pattern.grid) ranks = std::min(ranks, Traffic::max_ranks) * extent;
  if (!pattern.grid.empty() && ranks != pattern.traffic.rank_count()) {
    throw Error(ErrorKind::input, fmt::format("--grid {} is not of the {} ranks of the traffic", options.grid,
                                              pattern.traffic.rank_count()));
  }
  return pattern;
}

}  // namespace selvage::topo::tool
