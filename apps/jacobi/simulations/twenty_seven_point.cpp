#include "jacobi/simulations/typed.hpp"

namespace selvage::jacobi {

template std::unique_ptr<Simulation> make_simulation_of<TwentySevenPoint>(app::Session&, app::Report&,
                                                                          const Settings&, const Context&);

}  // namespace selvage::jacobi
