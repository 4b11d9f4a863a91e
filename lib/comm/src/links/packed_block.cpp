#include "packed_block.hpp"

#include "gpu/device.hpp"
#include "runtime/mappable.hpp"

#include <algorithm>

namespace selvage::detail {

void PackedBlock::allocate(const MessageParts& parts) {
  const bool on_host = parts.executor.runs_on_host();
  if (parts.carrier == Wire::mapped) {
    packed = allocate_mappable(parts.context, parts.executor, capacity_bytes());
  } else if (parts.carrier == Wire::packed && !on_host) {
    packed = allocate_for_mpi(capacity_bytes());
  } else {
    packed = parts.executor.allocate(capacity_bytes());
  }
  wire = parts.carrier == Wire::staged && !on_host ? parts.executor.allocate_staging(bytes()) : packed;
}

std::size_t PackedBlock::capacity_bytes() const {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, bytes()));
}

}  // namespace selvage::detail
