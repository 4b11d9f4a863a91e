#include "mpi_staged.hpp"

#include "mpi_messages.hpp"
#include "proxy_messages.hpp"

namespace selvage::detail {

std::string refuse_mpi_staged(const PairFacts&) {
  return {};
}

std::unique_ptr<HaloTransport> make_mpi_staged_transport(TransportParts parts) {
  if (is_started_by_proxy(parts.initiation)) return std::make_unique<ProxyMessages>(parts, Wire::staged);
  return std::make_unique<MpiMessages>(std::move(parts), true);
}

}  // namespace selvage::detail
