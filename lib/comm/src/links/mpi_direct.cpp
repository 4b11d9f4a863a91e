#include "mpi_direct.hpp"

#include "halo_messages.hpp"
#include "mpi_messages.hpp"

namespace selvage::detail {

std::string refuse_mpi_direct(const PairFacts& facts) {
  return facts.device_memory ? facts.gpu_aware_refusal : std::string{};
}

std::string refuse_mpi_direct_initiation(Initiation initiation, const PairFacts& facts, bool on_host) {
  if (is_started_by_proxy(initiation) && facts.device_memory && !facts.waiting_kernels_refusal.empty())
    return facts.waiting_kernels_refusal;
  return refuse_mpi_initiation(initiation, facts, on_host);
}

std::unique_ptr<Link> make_mpi_direct_transport(TransportParts parts) {
  return make_halo_messages(parts, Wire::packed);
}

}  // namespace selvage::detail
