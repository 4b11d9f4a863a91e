#include "command.hpp"

#include <selvage/topo/machine.hpp>
#include <selvage/topo/machine_files.hpp>

#include <memory>

namespace selvage::topo::tool {
namespace {

struct ShowOptions {
  std::string file;
  bool as_json = false;
};

}  // namespace

Work declare_show(CLI::App& app) {
  const auto options = std::make_shared<ShowOptions>();
  app.add_option("--from", options->file,
                 "Show what a file tells instead: of show --json, hwloc's XML, or NCCL's topology XML");
  app.add_flag("--json", options->as_json, "Print JSON, with the origin of each figure, instead of a table")
      ->disable_flag_override();
  return [options](bool speaks) {
    if (!speaks && !options->file.empty()) return std::string();
    const Machine machine = options->file.empty() ? detect(MPI_COMM_WORLD) : machine_from_file(options->file);
    return options->as_json ? to_json(machine) + '\n' : describe(machine);
  };
}

}  // namespace selvage::topo::tool
