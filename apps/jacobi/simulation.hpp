#pragma once

#include "common/report.hpp"
#include "common/session.hpp"
#include "jacobi/cli/settings.hpp"

#include <selvage/comm/context.hpp>

#include <memory>

namespace selvage::jacobi {

/// One run, with its precision and stencil fixed at compile time behind this interface. All members are
/// collective.
class Simulation {
 public:
  Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  virtual ~Simulation() = default;

  /// Steps until run.steps or the tolerance, writes the files, verifies, and fills the report.
  /// \throws AgreedError{numeric} that names the step when the field is no longer finite
  virtual void run() = 0;
};

/// Decomposes, allocates, plans the exchange, loads the restart file, and notes the decisions in the report.
/// \throws AgreedError, with kind input or usage for what doesn't fit the number of ranks
[[nodiscard]] std::unique_ptr<Simulation> make_simulation(app::Session& session, app::Report& report,
                                                          const Settings& settings, const Context& context);

}  // namespace selvage::jacobi
