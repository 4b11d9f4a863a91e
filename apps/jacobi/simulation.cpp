#include "jacobi/simulation.hpp"

#include "jacobi/simulations/make.hpp"

namespace selvage::jacobi {

std::unique_ptr<Simulation> make_simulation(app::Session& session, app::Report& report,
                                            const Settings& settings, const Context& context) {
  switch (settings.stencil_points) {
    case 5:
      return make_simulation_of<FivePoint>(session, report, settings, context);
    case 7:
      return make_simulation_of<SevenPoint>(session, report, settings, context);
    case 9:
      return make_simulation_of<NinePoint>(session, report, settings, context);
    default:
      return make_simulation_of<TwentySevenPoint>(session, report, settings, context);
  }
}

}  // namespace selvage::jacobi
