#pragma once

#include "common/input.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace selvage::app {

/// What an app allows and prefers for the options that all apps share.
struct StandardDefaults {
  std::int64_t steps = 1000;
  std::string out_dir = "out";
  std::vector<std::string> transports = {"auto"};   ///< the first one is the default
  std::vector<std::string> initiations = {"host"};  ///< the first one is the default
  int dimensions = 3;                               ///< of the rank grid
};

/// The options behind the shared flags; each is an input key too.
struct StandardOptions {
  std::int64_t steps;                          ///< run.steps, --steps; >= 0
  std::optional<std::string> restart_path;     ///< run.restart, --restart
  std::string out_dir;                         ///< run.out, --out
  bool verify;                                 ///< run.verify, --verify
  std::string transport;                       ///< comm.transport, --transport
  std::string initiation;                      ///< comm.initiation, --initiation
  std::optional<std::vector<int>> ranks_grid;  ///< comm.ranks_grid, --ranks-grid AxBxC; nothing for "auto"
};

/// Reads and checks them. The rank grid must have `dimensions` factors >= 1; whether their product is the
/// number of ranks is for the caller (Grid) to say.
/// \throws Error{input}
[[nodiscard]] StandardOptions read_standard_options(Input& input, const StandardDefaults& defaults);

}  // namespace selvage::app
