#include "packed_block.hpp"

#include "gpu/device.hpp"
#include "runtime/mappable.hpp"

#include <algorithm>

namespace selvage::detail {

void PackedBlock::allocate(const MessageParts& parts) {
  if (parts.carrier == Wire::mapped) {
    packed = allocate_mappable(parts.context, parts.executor, capacity_bytes());
  } else if (parts.executor.runs_on_host()) {
    packed = parts.executor.allocate(capacity_bytes());
  } else {
    packed = parts.carrier == Wire::staged ? parts.executor.allocate_staging(capacity_bytes())
                                           : allocate_for_mpi(capacity_bytes());
  }
}

std::size_t PackedBlock::capacity_bytes() const {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, bytes()));
}

}  // namespace selvage::detail
