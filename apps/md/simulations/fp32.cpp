#include "md/simulations/typed.hpp"

namespace selvage::md {

template std::unique_ptr<Simulation> make_simulation_of<Fp32>(app::Session&, app::Report&, const Settings&,
                                                              const Context&, const Start&);

}  // namespace selvage::md
