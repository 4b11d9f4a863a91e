#include "command.hpp"
#include "fabric_option.hpp"
#include "number_option.hpp"
#include "output_option.hpp"
#include "text/text_file.hpp"
#include "traffic_option.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/placement.hpp>
#include <selvage/topo/rank_files.hpp>
#include <selvage/topo/three_phases.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace selvage::topo::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* no_links = "the fabric tells of no links";

struct MapOptions {
  TrafficOptions traffic;
  std::string routing = "fixed";
  std::string output;
  FabricOptions fabric;
  std::string phases;
  bool links = false;
  bool as_json = false;
};

double percent(double value, double of) {
  return of > 0 ? 100 * value / of : 100;
}

Json metrics_json(const MethodResult& method, const Metrics& of_default) {
  const Metrics& metrics = method.metrics;
  return {
      {"method", method.method},
      {"hop_bytes", metrics.hop_bytes},
      {"percent_of_default", percent(metrics.hop_bytes, of_default.hop_bytes)},
      {"average_dilation", metrics.average_dilation},
      {"largest_dilation", metrics.largest_dilation},
      {"bytes_between_hosts", metrics.bytes_between_hosts},
      {"largest_link_load", metrics.largest_link_load ? Json(*metrics.largest_link_load) : Json(nullptr)}};
}

Json links_json(const MappingProblem& problem, const PortfolioResult& result) {
  Json links = Json::array();
  const std::vector<LinkLoad> before = link_loads(problem, result.methods.front().placement);
  const std::vector<LinkLoad> after = link_loads(problem, result.result().placement);
  for (std::size_t link = 0; link < after.size(); ++link) {
    if (before[link].bytes == 0 && after[link].bytes == 0) continue;
    links.push_back({{"link", problem.fabric.network()->links()[link].name},
                     {"bytes", after[link].bytes},
                     {"load", after[link].load},
                     {"default_load", before[link].load}});
  }
  return links;
}

/// Hosts and slots as chosen, and cores where the machine is known.
PlacementPlan plan_with_cores(const MappingProblem& problem, const Placement& placement,
                              const std::optional<Machine>& machine, const Phase& phase) {
  PlacementPlan plan = plan_of(problem.fabric, placement);
  if (machine)
    add_cores(plan, place_on_cores(problem, placement, *machine, phase));
  else
    plan.cores_unknown = "the fabric tells of no cores";
  return plan;
}

Json rank_json(const PlacementPlan::Rank& rank) {
  Json json = {{"host", rank.host}, {"slot", rank.slot}};
  if (!rank.cores.empty()) json["cores"] = rank.cores;
  if (!rank.cpus.empty()) json["hardware_threads"] = rank.cpus;
  return json;
}

std::string json_text(const MappingProblem& problem, const PortfolioResult& result, const PlacementPlan& plan,
                      bool with_links) {
  Json hosts = Json::array();
  for (const auto& host : plan.hosts) hosts.push_back({{"name", host.name}, {"slots", host.slots}});
  Json ranks = Json::array();
  for (const auto& rank : plan.ranks) ranks.push_back(rank_json(rank));
  Json methods = Json::array();
  for (const MethodResult& method : result.methods) {
    methods.push_back(metrics_json(method, result.methods.front().metrics));
  }
  Json all = {{"selvage_placement_version", 1},
              {"fabric", problem.fabric.description()},
              {"method", result.result().method},
              {"reason", result.reason},
              {"best", result.methods[result.best].method},
              {"methods", std::move(methods)},
              {"hosts", std::move(hosts)},
              {"ranks", std::move(ranks)}};
  if (!plan.cores_unknown.empty()) all["cores_unknown"] = plan.cores_unknown;
  if (with_links) all["links"] = links_json(problem, result);
  if (with_links && problem.fabric.network() == nullptr) all["links_unknown"] = no_links;
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void append_links(std::string& text, const MappingProblem& problem, const PortfolioResult& result) {
  if (problem.fabric.network() == nullptr) {
    text += fmt::format("links: unknown: {}\n", no_links);
    return;
  }
  std::vector<LinkLoad> loads = link_loads(problem, result.result().placement);
  const std::vector<LinkLoad> before = link_loads(problem, result.methods.front().placement);
  std::erase_if(loads, [&](const LinkLoad& load) { return load.bytes == 0 && before[load.link].bytes == 0; });
  if (loads.empty()) {
    text += "links: nothing is sent over any\n";
    return;
  }
  std::stable_sort(loads.begin(), loads.end(), [](const auto& a, const auto& b) { return a.load > b.load; });
  text += "\n| link | load | by default |\n|---|---|---|\n";
  for (const LinkLoad& load : loads) {
    fmt::format_to(std::back_inserter(text), "| {} | {:.6g} | {:.6g} |\n",
                   problem.fabric.network()->links()[load.link].name, load.load, before[load.link].load);
  }
}

std::string cores_text(const PlacementPlan& plan) {
  if (!plan.cores_unknown.empty()) return fmt::format("cores: unknown: {}\n", plan.cores_unknown);
  const auto [least, most] =
      std::ranges::minmax(plan.ranks, {}, [](const PlacementPlan::Rank& rank) { return rank.cores.size(); });
  return least.cores.size() == most.cores.size()
             ? fmt::format("cores: {} per rank\n", most.cores.size())
             : fmt::format("cores: {} to {} per rank\n", least.cores.size(), most.cores.size());
}

std::string table_text(const MappingProblem& problem, const PortfolioResult& result,
                       const PlacementPlan& plan, bool with_links) {
  const Metrics& of_default = result.methods.front().metrics;
  std::string text = fmt::format("{} on {}\n{}\n", counted(problem.traffic.rank_count(), "rank"),
                                 problem.fabric.description(), incomplete_text(problem.traffic.facts()));
  text +=
      "| method | hop-bytes | of default | dilation | largest | bytes between hosts | largest link load |\n";
  text += "|---|---|---|---|---|---|---|\n";
  for (const MethodResult& method : result.methods) {
    const Metrics& metrics = method.metrics;
    fmt::format_to(
        std::back_inserter(text), "| {} | {:.6g} | {:.1f} % | {:.2f} | {} | {} | {} |\n", method.method,
        metrics.hop_bytes, percent(metrics.hop_bytes, of_default.hop_bytes), metrics.average_dilation,
        metrics.largest_dilation, metrics.bytes_between_hosts,
        metrics.largest_link_load ? fmt::format("{:.6g}", *metrics.largest_link_load) : "not known");
  }
  fmt::format_to(std::back_inserter(text), "\nchosen: {} ({})\n", result.result().method, result.reason);
  text += cores_text(plan);
  if (with_links) append_links(text, problem, result);
  return text;
}

/// A phase by a method's name; "portfolio" is all of them with the guard. Where all places are equally far there is nothing to choose.
Phase phase_named(const std::string& name) {
  if (name == "portfolio") return portfolio_phase;
  return [name](const MappingProblem& problem) {
    if (problem.fabric.is_flat()) return by_rank_phase(problem);
    if (auto placement = place(problem, name)) return std::move(*placement);
    throw Error(ErrorKind::input,
                fmt::format("the method {} doesn't suit {} on {}", name,
                            counted(problem.traffic.rank_count(), "rank"), problem.fabric.description()));
  };
}

/// "portfolio,default,greedy": of hosts, cores and GPUs. \throws Error{usage} that lists the methods there are
Phases phases_named(const std::string& text) {
  std::vector<std::string> known = mapper_names();
  known.insert(known.begin(), "portfolio");
  std::vector<std::string> names;
  std::istringstream parts(text);
  for (std::string name; std::getline(parts, name, ',');) {
    if (std::ranges::find(known, name.substr(0, name.find('+'))) == known.end())
      throw Error(ErrorKind::usage,
                  fmt::format("--phases has '{}', none of {}", name.substr(0, 40), fmt::join(known, ", ")));
    names.push_back(name);
  }
  if (names.size() != 3)
    throw Error(
        ErrorKind::usage,
        fmt::format("--phases is '{}', not three methods, for hosts, cores and GPUs", text.substr(0, 80)));
  return {phase_named(names[0]), phase_named(names[1]), phase_named(names[2])};
}

/// Hosts by all traffic, then GPUs by device traffic; cores come last, near to the GPUs. The default stands beside it.
PortfolioResult place_in_phases(const MappingProblem& problem, const Phases& phases,
                                const std::string& names) {
  const auto measured = [&](std::string name, Placement placement) {
    const Metrics metrics = measure(problem, placement);
    return MethodResult{.method = std::move(name), .placement = std::move(placement), .metrics = metrics};
  };
  PortfolioResult result;
  result.methods.push_back(measured("default", by_rank_phase(problem)));
  result.methods.push_back(
      measured("phases", place_on_gpus(problem, phases.process_to_host(problem), phases.gpu_to_process)));
  result.best = result.methods[1].metrics.hop_bytes < result.methods[0].metrics.hop_bytes ? 1 : 0;
  result.chosen = 1;
  result.reason = fmt::format("hosts, cores and GPUs by {}", names);
  return result;
}

std::string map(const MapOptions& options, bool speaks) {
  const Routing routing = routing_named(options.routing);
  // The machine is found by all ranks together, before the first one alone goes on: what it reads may be of its host only.
  std::optional<FoundFabric> found = fabric_found_together(options.fabric);
  if (!speaks) return "";
  require_another_file(options.output,
                       {options.traffic.traffic, options.fabric.probes, file_of(options.fabric)});
  if (!options.output.empty()) check_writable(options.output);
  const Pattern pattern = traffic_of(options.traffic);
  if (!found) found = fabric_named(options.fabric, pattern.traffic.rank_count());
  found = with_measurements(std::move(*found), options.fabric);
  const MappingProblem problem{.traffic = pattern.traffic,
                               .fabric = found->fabric,
                               .grid = pattern.grid,
                               .seed = options.fabric.seed,
                               .routing = routing};
  const bool is_phased = !options.phases.empty();
  const Phases phases = is_phased ? phases_named(options.phases) : Phases();
  const PortfolioResult result =
      is_phased ? place_in_phases(problem, phases, options.phases) : place_by_portfolio(problem);
  const PlacementPlan plan =
      plan_with_cores(problem, result.result().placement, found->machine, phases.process_to_core);
  const std::string json = json_text(problem, result, plan, options.links);
  if (!options.output.empty()) write_text_file(options.output, json);
  return options.as_json ? json : table_text(problem, result, plan, options.links);
}

}  // namespace

Work declare_map(CLI::App& app) {
  const auto options = std::make_shared<MapOptions>();
  app.add_option("--traffic", options->traffic.traffic,
                 "Who sends how much to whom: a profile (HDF5), or CSV (*.csv)");
  app.add_option("--pattern", options->traffic.pattern, "A pattern instead, such as 3d-8x8x8-wrap");
  app.add_option("--fabric", options->fabric.fabric, fabric_help)->capture_default_str();
  app.add_option(
      "--probes", options->fabric.probes,
      "Measured costs (of probe --output) for a machine; without it, those that probe --save wrote");
  app.add_option("--metric", options->fabric.metric,
                 "What measured costs are: time (of a large message), latency, bandwidth, or level (the "
                 "machine's, as if nothing were "
                 "measured)")
      ->capture_default_str();
  app.add_option("--phases", options->phases,
                 "Place in three phases, each by a method: hosts by all traffic, cores by host traffic, GPUs "
                 "by device traffic, such as "
                 "portfolio,portfolio,default");
  app.add_option(
      "--nodes", options->fabric.nodes,
      "The job's hosts in topology.conf or of scontrol, such as n[0-3]; without it, all of a file, "
      "and of scontrol those of SLURM_JOB_NODELIST");
  app.add_option(
         "--slots-per-host", options->fabric.slots_per_host,
         "GPUs per host, where the fabric doesn't say; for Slurm's also a number for each host, such as "
         "4,4,2")
      ->delimiter(',')
      ->transform(whole_number_from(1, Fabric::max_slots))
      ->capture_default_str();
  app.add_option("--grid", options->traffic.grid, "The process grid of the ranks, such as 8x8x8, for blocks");
  app.add_option("--routing", options->routing, "fixed or adaptive")->capture_default_str();
  app.add_option("--seed", options->fabric.seed, "Of what is drawn")
      ->transform(whole_number_from(0))
      ->capture_default_str();
  app.add_option("--output", options->output, "Write the placement to this file, as JSON");
  app.add_flag("--links", options->links, "Also list the load of each link");
  app.add_flag("--json", options->as_json, "Print JSON instead of tables")->disable_flag_override();
  return [options](bool speaks) { return map(*options, speaks); };
}

}  // namespace selvage::topo::tool
