#include "command.hpp"
#include "text/text_file.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <vector>

namespace selvage::topo::tool {
namespace {

constexpr const char* variable = "SELVAGE_PROBES";

struct ProbeOptions {
  std::string output;
  bool saves = false;
  bool without_gpus = false;
  bool as_json = false;
};

/// Where rank 0 writes, as its environment says. Collective.
/// \throws Error{usage} on all ranks where that names no place
std::string place_to_save(bool speaks) {
  const auto file = speaks ? settings_path(variable, "probes.json") : std::nullopt;
  int is_there = file ? 1 : 0;
  check_mpi(MPI_Bcast(&is_there, 1, MPI_INT, 0, MPI_COMM_WORLD),
            "MPI_Bcast of whether there is a place to save");
  if (is_there == 0)
    throw Error(ErrorKind::usage,
                fmt::format("--save has no place: {} is off, or there is no HOME", variable));
  if (!file) return "";
  if (!file->is_named) {
    std::error_code ignored;  // writing tells
    std::filesystem::create_directories(std::filesystem::path(file->path).parent_path(), ignored);
  }
  return file->path;
}

/// Rank 0 finds out before minutes of measuring. Collective. \return whether to go on
/// \throws Error{io} on rank 0
bool can_write(const std::vector<std::string>& paths, bool speaks) {
  std::exception_ptr why;
  try {
    for (const std::string& path : paths) {
      if (speaks && !path.empty()) check_writable(path);
    }
  } catch (const Error&) {
    why = std::current_exception();
  }
  int goes_on = why ? 0 : 1;
  check_mpi(MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD),
            "MPI_Bcast of whether the figures can be written");
  if (why) std::rethrow_exception(why);
  return goes_on == 1;
}

std::string measured(const ProbeOptions& options, bool speaks) {
  const std::string settings = options.saves ? place_to_save(speaks) : "";
  if (!can_write({options.output, settings}, speaks)) return "";
  const Probes probes = probe(MPI_COMM_WORLD, {.with_gpus = !options.without_gpus});
  if (!speaks) return "";
  if (options.saves && probes.pairs.empty() && !probes.gpus.is_known()) {
    throw Error(ErrorKind::usage,
                fmt::format("one rank and no GPUs have no links to save, and '{}' is left as it is: "
                            "start probe --save with the ranks of a job",
                            settings));
  }
  for (const std::string& path : {options.output, settings}) {
    if (!path.empty()) write_text_file(path, to_json(probes) + '\n');
  }
  return options.as_json ? to_json(probes) + '\n' : describe(probes);
}

}  // namespace

Work declare_probe(CLI::App& app) {
  const auto options = std::make_shared<ProbeOptions>();
  app.add_option("--output", options->output,
                 "Also write the figures to this file, as JSON: map takes it as --fabric probed:FILE");
  app.add_flag(
         "--save", options->saves,
         "Also write them where programs look for them, SELVAGE_PROBES or ~/.config/selvage/probes.json")
      ->disable_flag_override();
  app.add_flag("--no-gpus", options->without_gpus, "Leave GPUs alone")->disable_flag_override();
  app.add_flag("--json", options->as_json, "Print JSON instead of tables")->disable_flag_override();
  return [options](bool speaks) { return measured(*options, speaks); };
}

}  // namespace selvage::topo::tool
