#include "command.hpp"

#include <selvage/topo/machine.hpp>

#include <memory>

namespace selvage::topo::tool {

Work declare_show(CLI::App& app) {
  const auto as_json = std::make_shared<bool>(false);
  app.add_flag("--json", *as_json, "Print JSON, with the origin of each figure, instead of a table")
      ->disable_flag_override();
  return [as_json](bool) {
    const Machine machine = detect(MPI_COMM_WORLD);
    return *as_json ? to_json(machine) + '\n' : describe(machine);
  };
}

}  // namespace selvage::topo::tool
