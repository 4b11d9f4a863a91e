#pragma once

#include "common/report.hpp"
#include "common/session.hpp"
#include "md/cli/settings.hpp"
#include "md/io/state.hpp"

#include <selvage/comm/context.hpp>

#include <memory>
#include <optional>

namespace selvage::md {

/// What a run begins with.
struct Start {
  State state;
  std::optional<std::int64_t> restarted_at;  ///< the step, where it comes from a restart file
};

/// Makes the lattice, or reads the state or restart file, and draws velocities where they are asked for.
/// \throws Error{input} for a file that can't be used, atoms that don't fit the box, and a box shorter than the
/// list's cutoff
[[nodiscard]] Start make_start(const Settings& settings);

/// One run, with its precision fixed at compile time behind this interface. All members are collective.
class Simulation {
 public:
  Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  virtual ~Simulation() = default;

  /// Steps to run.steps, writes the files, verifies, and fills the report.
  /// \throws Error{numeric} that names atom, step and rank where one moves too far in one step
  virtual void run() = 0;
};

/// Takes each rank its atoms, copies them to the device, lists neighbours, and notes the decisions in the report.
/// \throws Error{input} for atoms that overlap
[[nodiscard]] std::unique_ptr<Simulation> make_simulation(app::Session& session, app::Report& report,
                                                          const Settings& settings, const Context& context,
                                                          const Start& start);

}  // namespace selvage::md
