#include "device.hpp"

namespace selvage::detail {

std::string device_pci_bus_id() {
  return {};
}

}  // namespace selvage::detail
