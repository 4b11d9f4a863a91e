#include "placement/random.hpp"

#include "placement/mapper.hpp"

#include <numeric>

namespace selvage::topo {

std::optional<Slots> map_randomly(const MapperInput& input) {
  Slots slots(static_cast<std::size_t>(input.graph.size));
  std::iota(slots.begin(), slots.end(), 0);
  Random(input.seed).shuffle(slots);
  return slots;
}

}  // namespace selvage::topo
