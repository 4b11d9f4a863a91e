#include "packed_block.hpp"

#include "gpu/device.hpp"
#include "runtime/mappable.hpp"

#include <algorithm>

namespace selvage::detail {
namespace {

Buffer allocate_packed(const TransportParts& parts, Wire carrier, std::size_t bytes) {
  if (carrier == Wire::mapped) return allocate_mappable(parts.context, parts.executor, bytes);
  const bool mpi_takes_device_memory = carrier == Wire::packed && !parts.executor.runs_on_host();
  return mpi_takes_device_memory ? allocate_for_mpi(bytes) : parts.executor.allocate(bytes);
}

}  // namespace

PackedBlock::PackedBlock(const TransportParts& parts, const PeerPlan& plan, LinkSide side, Wire carrier)
    : packing(plan.neighbour, parts.fields, parts.axes, side) {
  packed = allocate_packed(parts, carrier, capacity_bytes());
  const bool is_staged = carrier == Wire::staged && !parts.executor.runs_on_host();
  wire = is_staged ? parts.executor.allocate_staging(packing.bytes()) : packed;
  for (std::size_t f = 0; f < parts.fields.size(); ++f) {
    pack.push_back(pack_boxes(packing, f, parts.fields[f], packed.data));
    unpack.push_back(unpack_boxes(packing, f, parts.fields[f], packed.data));
  }
}

std::size_t PackedBlock::capacity_bytes() const {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, packing.bytes()));
}

PackedPeer::PackedPeer(const TransportParts& parts, const PeerPlan& plan, Wire carrier)
    : rank(plan.neighbour.rank),
      owned(parts, plan, LinkSide::owned, carrier),
      ghost(parts, plan, LinkSide::ghost, carrier) {
  for (std::size_t f = 0; f < parts.fields.size(); ++f) {
    contributions.push_back(contributions_of(owned.packing, f, parts.fields[f], owned.packed.data));
  }
}

}  // namespace selvage::detail
