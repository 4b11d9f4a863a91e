#include "records.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/machine_files.hpp>

#include <fmt/format.h>

namespace selvage::topo {

HostInventory inventory_from_hwloc() {
  return unknown_inventory("built without hwloc");
}

Machine machine_from_hwloc_xml(std::string_view, const std::string& name) {
  throw Error(ErrorKind::unsupported,
              fmt::format("{}: hwloc's XML can't be read: built without hwloc", name));
}

}  // namespace selvage::topo
