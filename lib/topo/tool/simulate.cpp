#include "command.hpp"
#include "fabric_option.hpp"
#include "number_option.hpp"
#include "output_option.hpp"
#include "simulation_report.hpp"
#include "text/text_file.hpp"
#include "traffic_option.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/simulation.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

namespace selvage::topo::tool {
namespace {

constexpr int most_seeds = 1'000'000;

struct SimulateOptions {
  std::string suite;
  TrafficOptions traffic;
  std::string fabric = "fat-tree-fragmented";
  std::string routing = "fixed";
  std::string records;
  std::string table;
  int slots_per_host = 4;
  int seeds = 20;
  bool as_json = false;
};

struct Case {
  SimulationRequest request;
  Pattern pattern;
};

std::vector<Case> cases_of(const SimulateOptions& options) {
  const Routing routing = routing_named(options.routing);
  const bool is_one = !options.traffic.pattern.empty() || !options.traffic.traffic.empty();
  if (options.suite.empty() != is_one)
    throw Error(ErrorKind::usage, "one of --suite NAME, --pattern NAME and --traffic FILE is needed");
  if (is_one) {
    Pattern pattern = traffic_of(options.traffic);
    return {{.request = {.pattern = pattern.name,
                         .fabric = options.fabric,
                         .slots_per_host = options.slots_per_host,
                         .seeds = options.seeds,
                         .routing = routing},
             .pattern = std::move(pattern)}};
  }
  std::vector<Case> cases;
  for (SimulationRequest& request : suite_named(options.suite, options.seeds, routing))
    cases.push_back({.request = request, .pattern = pattern_named(request.pattern)});
  return cases;
}

std::string run(const SimulateOptions& options, bool speaks) {
  if (!speaks) return "";
  require_another_file(options.records, {options.traffic.traffic});
  require_another_file(options.table, {options.traffic.traffic, options.records});
  for (const std::string& path : {options.records, options.table}) {
    if (!path.empty()) check_writable(path);
  }
  std::vector<SimulationResult> results;
  for (const Case& one : cases_of(options)) {
    results.push_back(simulate(one.request, one.pattern));
    // After every case, since a suite takes long and may be ended early.
    if (!options.records.empty()) write_text_file(options.records, records_json(results));
    if (!options.table.empty()) write_text_file(options.table, results_table(results));
  }
  return options.as_json ? records_json(results) : results_table(results);
}

}  // namespace

Work declare_simulate(CLI::App& app) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::Option* const suite = app.add_option(
      "--suite", options->suite, "Many cases: paper, stencils, large, md, quick, or all but the last");
  app.add_option(
      "--pattern", options->traffic.pattern,
      "One case: 2d-8x8, 3d-4x4x4, coll-4x2x2 or md-4x4x4, stencils also with -wrap, -weighted, -corners; "
      "HOST+DEVICE for both at once");
  app.add_option("--traffic", options->traffic.traffic,
                 "One case: what a program sent, a profile (HDF5) or CSV (*.csv)");
  app.add_option("--grid", options->traffic.grid, "The process grid of its ranks, such as 8x8x8, for blocks");
  app.add_option("--fabric", options->fabric,
                 "flat, fat-tree, dragonfly or torus, each also with -fragmented, or pcie-tree")
      ->capture_default_str();
  app.add_option("--slots-per-host", options->slots_per_host, "GPUs per host")
      ->transform(whole_number_from(1, Fabric::max_slots))
      ->capture_default_str();
  app.add_option("--seeds", options->seeds, "Allocations to draw")
      ->transform(whole_number_from(1, most_seeds))
      ->capture_default_str();
  app.add_option("--routing", options->routing, "fixed or adaptive")->capture_default_str();
  app.add_option("--records", options->records, "Also write the JSON records to this file");
  app.add_option("--table", options->table, "Also write the table to this file");
  app.add_flag("--json", options->as_json, "Print JSON records instead of the table")
      ->disable_flag_override();
  // Suites name their own fabrics and grids.
  for (const char* of_one : {"--fabric", "--slots-per-host", "--grid"}) suite->excludes(of_one);
  return [options](bool speaks) { return run(*options, speaks); };
}

}  // namespace selvage::topo::tool
