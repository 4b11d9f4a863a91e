#include "command.hpp"
#include "text_file.hpp"

#include <selvage/topo/probe.hpp>

#include <memory>

namespace selvage::topo::tool {
namespace {

struct Options {
  std::string output;
  bool as_json = false;
};

std::string measured(const Options& options, bool speaks) {
  const Probes probes = probe(MPI_COMM_WORLD);
  if (!speaks) return "";
  if (!options.output.empty()) write_text_file(options.output, to_json(probes) + '\n');
  return options.as_json ? to_json(probes) + '\n' : describe(probes);
}

}  // namespace

Work declare_probe(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--output", options->output,
                 "Also write the figures to this file, as JSON: map takes it as --fabric probed:FILE");
  app.add_flag("--json", options->as_json, "Print JSON instead of tables")->disable_flag_override();
  return [options](bool speaks) { return measured(*options, speaks); };
}

}  // namespace selvage::topo::tool
