#pragma once

#include <selvage/topo/pattern.hpp>

#include <string>

namespace selvage::topo::tool {

/// What the command line says of the traffic.
struct TrafficOptions {
  std::string traffic;
  std::string pattern;
  std::string grid;
};

/// The traffic of a file, or the pattern of a name; a file's pattern is called by the file's name.
/// \throws Error{usage} unless one of the two is there; Error{input} for what can't be read, or a grid of other ranks
[[nodiscard]] Pattern traffic_of(const TrafficOptions& options);

/// A line of a table where a profile lacks traffic, else nothing.
[[nodiscard]] inline std::string incomplete_text(const TrafficFacts& facts) {
  return facts.is_incomplete ? "the profile is incomplete: a rank didn't reach MPI_Finalize\n" : "";
}

}  // namespace selvage::topo::tool
