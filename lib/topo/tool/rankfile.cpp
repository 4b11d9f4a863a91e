#include "command.hpp"
#include "output_option.hpp"
#include "text/text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/read_text_file.hpp>
#include <selvage/suggestion.hpp>
#include <selvage/topo/rank_files.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <memory>
#include <vector>

namespace selvage::topo::tool {
namespace {

struct RankfileOptions {
  std::string placement;
  std::string format;
  std::string output;
  bool as_json = false;
};

struct Format {
  const char* name;
  std::string (*write)(const PlacementPlan& plan);
};
constexpr std::array<Format, 5> formats = {{{"openmpi", openmpi_rank_file},
                                            {"slurm", slurm_host_file},
                                            {"mpich", mpich_rank_order},
                                            {"gpus", gpu_list},
                                            {"cores", core_list}}};

std::string written(const std::string& format, const PlacementPlan& plan) {
  std::vector<std::string> names;
  for (const Format& one : formats) {
    if (format == one.name) return one.write(plan);
    names.emplace_back(one.name);
  }
  throw Error(ErrorKind::usage, fmt::format("--format is '{}'{}; there are {}", format.substr(0, 40),
                                            did_you_mean(format, names), fmt::join(names, ", ")));
}

std::string rankfile(const RankfileOptions& options, bool speaks) {
  if (options.placement.empty() || options.format.empty()) {
    throw Error(ErrorKind::usage, "--placement FILE and --format NAME are needed");
  }
  if (!speaks) return "";
  const PlacementPlan plan = plan_from_json(read_text_file(options.placement), options.placement);
  const std::string text = written(options.format, plan);
  require_another_file(options.output, {options.placement});
  if (!options.output.empty()) write_text_file(options.output, text);
  if (options.as_json) {
    return nlohmann::ordered_json{{"format", options.format}, {"ranks", plan.ranks.size()}, {"text", text}}
               .dump(2) +
           '\n';
  }
  return options.output.empty() ? text : "";
}

}  // namespace

Work declare_rankfile(CLI::App& app) {
  const auto options = std::make_shared<RankfileOptions>();
  app.add_option("--placement", options->placement, "What 'selvage-topo map --output FILE' wrote");
  app.add_option(
      "--format", options->format,
      "openmpi (rank file), slurm (SLURM_HOSTFILE for --distribution=arbitrary), mpich (MPICH_RANK_ORDER), "
      "gpus (the slot of each rank in its host), or cores (the hardware threads of each rank, for bind.sh "
      "--cores)");
  app.add_option("--output", options->output, "Write to this file instead of standard output");
  app.add_flag("--json", options->as_json, "Print JSON with the text in it")->disable_flag_override();
  return [options](bool speaks) { return rankfile(*options, speaks); };
}

}  // namespace selvage::topo::tool
