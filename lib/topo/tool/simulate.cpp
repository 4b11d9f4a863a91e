#include "command.hpp"
#include "fabric_option.hpp"
#include "simulation_report.hpp"
#include "text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/simulation.hpp>

#include <fmt/format.h>

#include <memory>

namespace selvage::topo::tool {
namespace {

struct SimulateOptions {
  std::string suite;
  std::string pattern;
  std::string fabric = "fat-tree-fragmented";
  std::string routing = "fixed";
  std::string records;
  std::string table;
  int slots_per_host = 4;
  int seeds = 20;
  bool as_json = false;
};

std::vector<SimulationRequest> requests_of(const SimulateOptions& options) {
  const Routing routing = routing_named(options.routing);
  if (options.suite.empty() == options.pattern.empty()) {
    throw Error(ErrorKind::usage, "one of --suite NAME and --pattern NAME is needed");
  }
  if (options.seeds < 1)
    throw Error(ErrorKind::usage, fmt::format("--seeds is {}, not 1 or more", options.seeds));
  if (!options.suite.empty()) return suite_named(options.suite, options.seeds, routing);
  return {{.pattern = options.pattern,
           .fabric = options.fabric,
           .slots_per_host = options.slots_per_host,
           .seeds = options.seeds,
           .routing = routing}};
}

std::string run(const SimulateOptions& options, bool speaks) {
  const std::vector<SimulationRequest> requests = requests_of(options);
  if (!speaks) return "";
  std::vector<SimulationResult> results;
  for (const SimulationRequest& request : requests) {
    results.push_back(simulate(request));
    // After every case, since a suite takes long and may be ended early.
    if (!options.records.empty()) write_text_file(options.records, records_json(results));
    if (!options.table.empty()) write_text_file(options.table, results_table(results));
  }
  return options.as_json ? records_json(results) : results_table(results);
}

}  // namespace

Work declare_simulate(CLI::App& app) {
  const auto options = std::make_shared<SimulateOptions>();
  app.add_option("--suite", options->suite,
                 "Many cases: paper, stencils, large, md, quick, or all but the last");
  app.add_option(
      "--pattern", options->pattern,
      "One case: 2d-8x8, 3d-4x4x4, coll-4x2x2 or md-4x4x4, stencils also with -wrap, -weighted, -corners; "
      "HOST+DEVICE for both at once");
  app.add_option("--fabric", options->fabric,
                 "flat, fat-tree, dragonfly or torus, each also with -fragmented, or pcie-tree")
      ->capture_default_str();
  app.add_option("--slots-per-host", options->slots_per_host, "GPUs per host")->capture_default_str();
  app.add_option("--seeds", options->seeds, "Allocations to draw")->capture_default_str();
  app.add_option("--routing", options->routing, "fixed or adaptive")->capture_default_str();
  app.add_option("--records", options->records, "Also write the JSON records to this file");
  app.add_option("--table", options->table, "Also write the table to this file");
  app.add_flag("--json", options->as_json, "Print JSON records instead of the table")
      ->disable_flag_override();
  return [options](bool speaks) { return run(*options, speaks); };
}

}  // namespace selvage::topo::tool
