#pragma once

#include "common/input.hpp"

#include <optional>
#include <string>
#include <vector>

namespace selvage::app {

/// A flag that one app adds to the shared ones.
struct Flag {
  std::string name;  ///< as typed, e.g. "--overlap"
  std::string key;   ///< the input key that it sets, e.g. "run.overlap"
  std::string value_name =
      {};                 ///< what --help calls its value; empty for a switch, which sets the key to true
  std::string help = {};  ///< one line
  std::vector<std::string> choices =
      {};  ///< shown by --help; the value itself is checked where the key is read
};

/// What an app says about itself.
struct AppInfo {
  std::string name;              ///< e.g. "jacobi"; starts every message
  std::string summary;           ///< one line for --help
  std::string version;           ///< e.g. "0.1.0"
  std::vector<Flag> flags = {};  ///< besides the shared ones
};

/// A parsed command line. Flags that carry a value or set a key are not kept apart: they are in `overrides`,
/// and checked where the key is read (see standard_options.hpp for the keys of the shared flags).
struct CommandLine {
  std::optional<std::string> input_path;  ///< INPUT.toml
  std::vector<Override> overrides;  ///< --set and flags, in the order typed; of equal keys the last one wins
  bool check = false;               ///< --check: print the plan and stop
  bool env = false;                 ///< --env: print the environment and stop
  bool json = false;                ///< --json: standard output is run.json and nothing else
  bool quiet = false;               ///< --quiet: only VERIFY and FOM lines
  std::optional<std::string> text_only;  ///< --help or --version: print this and exit 0
  std::vector<std::string> kokkos;       ///< --kokkos-... arguments, left to Kokkos
  std::string as_typed;                  ///< the whole line, for run.json
};

/// Parses the shared flags and the app's own ones. Pure: prints nothing and ends nothing.
/// \throws Error{usage} with a suggestion for an unknown flag, and for a flag without its value
[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv, const AppInfo& info);

}  // namespace selvage::app
