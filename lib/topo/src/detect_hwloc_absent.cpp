#include "records.hpp"

namespace selvage::topo {

HostInventory inventory_from_hwloc() {
  return unknown_inventory("built without hwloc");
}

}  // namespace selvage::topo
