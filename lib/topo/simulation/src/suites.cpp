#include <selvage/error.hpp>
#include <selvage/suggestion.hpp>
#include <selvage/topo/simulation.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>
#include <utility>

namespace selvage::topo {
namespace {

/// The microbenchmarks of section 6.4: 16 GPUs in one host as a tree, and 64 in four such hosts; once more on hosts of
/// four GPUs in a fragmented fat tree. Table 6.1's pairs run one pattern in host and one in device memory.
std::vector<SimulationRequest> paper_suite() {
  std::vector<std::string> patterns;
  for (const char* stencil : {"2d-4x4", "3d-2x2x4", "2d-8x8", "3d-4x4x4"}) {
    for (const char* options : {"", "-wrap", "-weighted", "-wrap-weighted"}) {
      patterns.push_back(fmt::format("{}{}", stencil, options));
    }
  }
  for (const char* collective : {"coll-4x2x2", "coll-4x4x4"}) patterns.emplace_back(collective);
  for (const char* host : {"2d-8x8", "3d-4x4x4", "coll-4x4x4"}) {
    for (const char* device : {"2d-8x8", "3d-4x4x4", "coll-4x4x4"}) {
      patterns.push_back(fmt::format("{}+{}", host, device));
    }
  }
  std::vector<SimulationRequest> requests;
  for (const char* fabric : {"pcie-tree", "fat-tree-fragmented"}) {
    for (const std::string& pattern : patterns) {
      requests.push_back({.pattern = pattern, .fabric = fabric, .slots_per_host = fabric[0] == 'p' ? 16 : 4});
    }
  }
  return requests;
}

std::vector<SimulationRequest> stencils(const std::vector<const char*>& patterns) {
  std::vector<SimulationRequest> requests;
  for (const char* fabric :
       {"flat", "fat-tree", "fat-tree-fragmented", "dragonfly-fragmented", "torus-fragmented"}) {
    for (const char* pattern : patterns) requests.push_back({.pattern = pattern, .fabric = fabric});
  }
  return requests;
}

std::vector<SimulationRequest> stencil_suite() {
  return stencils({"2d-8x8", "2d-16x16", "2d-24x16", "2d-20x15", "2d-32x32", "3d-4x4x4", "3d-8x8x4",
                   "3d-8x8x8", "3d-8x8x8-wrap", "3d-8x8x8-corners", "3d-16x8x8"});
}

std::vector<SimulationRequest> large_suite() {
  return stencils({"2d-64x64", "3d-16x16x16"});
}

std::vector<SimulationRequest> md_suite() {
  std::vector<SimulationRequest> requests;
  for (const char* fabric : {"fat-tree-fragmented", "dragonfly-fragmented", "torus-fragmented"}) {
    for (const char* pattern : {"md-4x4x4", "md-8x8x4", "md-8x8x8"}) {
      requests.push_back({.pattern = pattern, .fabric = fabric});
    }
  }
  return requests;
}

std::vector<SimulationRequest> quick_suite() {
  return {{.pattern = "2d-4x4", .fabric = "flat"},
          {.pattern = "3d-4x4x4", .fabric = "fat-tree-fragmented"},
          {.pattern = "2d-8x8-wrap", .fabric = "torus-fragmented"},
          {.pattern = "md-4x4x2", .fabric = "dragonfly-fragmented"}};
}

/// Each case once, though suites share some.
std::vector<SimulationRequest> all_suites() {
  std::vector<SimulationRequest> requests;
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& suite : {paper_suite(), stencil_suite(), large_suite(), md_suite()}) {
    for (const SimulationRequest& request : suite) {
      if (seen.emplace(request.pattern, request.fabric).second) requests.push_back(request);
    }
  }
  return requests;
}

struct Suite {
  const char* name;
  std::vector<SimulationRequest> (*requests)();
};
constexpr std::array<Suite, 6> suites = {{{"paper", paper_suite},
                                          {"stencils", stencil_suite},
                                          {"large", large_suite},
                                          {"md", md_suite},
                                          {"quick", quick_suite},
                                          {"all", all_suites}}};

}  // namespace

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Suite& suite : suites) names.emplace_back(suite.name);
  return names;
}

std::vector<SimulationRequest> suite_named(std::string_view name, int seeds, Routing routing) {
  for (const Suite& suite : suites) {
    if (suite.name != name) continue;
    std::vector<SimulationRequest> requests = suite.requests();
    for (SimulationRequest& request : requests) {
      request.seeds = seeds;
      request.routing = routing;
    }
    return requests;
  }
  const std::vector<std::string> names = suite_names();
  throw Error(ErrorKind::input, fmt::format("there is no suite '{}'{}; there are {}", name.substr(0, 40),
                                            did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace selvage::topo
