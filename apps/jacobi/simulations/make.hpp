#pragma once

#include "jacobi/physics/stencil.hpp"
#include "jacobi/simulation.hpp"

namespace selvage::jacobi {

/// make_simulation() for one stencil; each has a source file of its own, so that they compile in parallel.
template <class Stencil>
[[nodiscard]] std::unique_ptr<Simulation> make_simulation_of(app::Session& session, app::Report& report,
                                                             const Settings& settings,
                                                             const Context& context);

extern template std::unique_ptr<Simulation> make_simulation_of<FivePoint>(app::Session&, app::Report&,
                                                                          const Settings&, const Context&);
extern template std::unique_ptr<Simulation> make_simulation_of<SevenPoint>(app::Session&, app::Report&,
                                                                           const Settings&, const Context&);
extern template std::unique_ptr<Simulation> make_simulation_of<NinePoint>(app::Session&, app::Report&,
                                                                          const Settings&, const Context&);
extern template std::unique_ptr<Simulation> make_simulation_of<TwentySevenPoint>(app::Session&, app::Report&,
                                                                                 const Settings&,
                                                                                 const Context&);

}  // namespace selvage::jacobi
