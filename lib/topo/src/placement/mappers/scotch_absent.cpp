#include "placement/mapper.hpp"

#include <selvage/topo/placement.hpp>

namespace selvage::topo {

std::optional<Slots> map_by_scotch(const MapperInput&) {
  return std::nullopt;
}

std::optional<Slots> map_hosts_by_scotch(const MapperInput&) {
  return std::nullopt;
}

bool has_scotch() {
  return false;
}

}  // namespace selvage::topo
