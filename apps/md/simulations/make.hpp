#pragma once

#include "md/physics/numbers.hpp"
#include "md/simulation.hpp"

namespace selvage::md {

/// Defined and instantiated in the file of each precision, so that each compiles by itself.
template <class Numbers>
[[nodiscard]] std::unique_ptr<Simulation> make_simulation_of(app::Session& session, app::Report& report,
                                                             const Settings& settings, const Context& context,
                                                             const Start& start);

extern template std::unique_ptr<Simulation> make_simulation_of<Fp64>(app::Session&, app::Report&,
                                                                     const Settings&, const Context&,
                                                                     const Start&);
extern template std::unique_ptr<Simulation> make_simulation_of<Mixed>(app::Session&, app::Report&,
                                                                      const Settings&, const Context&,
                                                                      const Start&);
extern template std::unique_ptr<Simulation> make_simulation_of<Fp32>(app::Session&, app::Report&,
                                                                     const Settings&, const Context&,
                                                                     const Start&);

}  // namespace selvage::md
