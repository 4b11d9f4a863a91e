#include "transfer_choice.hpp"

#include "links/mpi_direct.hpp"
#include "links/mpi_messages.hpp"
#include "links/mpi_staged.hpp"
#include "links/peer.hpp"
#include "proxy/proxy.hpp"
#include "transfer_parts.hpp"

#include <array>
#include <string>

namespace selvage::detail {
namespace {

/// Elements count as scattered if their blocks are shorter than this on average.
constexpr std::int64_t least_block_bytes = 32;

/// To or from GPU memory a ring is faster than MPI through host memory from here on. Of 2 and 4 ranks that share an H200 it takes 55 and
/// 70 us for 128 KB beside 60 and 85, for 324 KB 77 and 94 us beside 109 and 149.
constexpr std::int64_t least_ring_bytes_on_device = 128 * 1024;

bool is_on_host(const PairFacts& facts) {
  return !facts.device_memory && refuse_ring(facts).empty();
}
bool is_large_on_device(const PairFacts& facts) {
  return facts.device_memory && refuse_ring(facts).empty() && facts.bytes >= least_ring_bytes_on_device;
}
bool is_scattered_on_host(const PairFacts& facts) {
  return is_on_host(facts) && facts.block_bytes < least_block_bytes;
}

std::string refuse_kernel(Initiation initiation) {
  return initiation == Initiation::kernel ? "kernels start no typed transfer" : "";
}
std::string refuse_put_initiation(Initiation initiation, const PairFacts& facts, bool on_host) {
  if (initiation == Initiation::queue) return Proxy::refusal(facts.threads_refusal, on_host);
  if (initiation == Initiation::host && !on_host) return "its kernels are enqueued on the stream";
  return refuse_kernel(initiation);
}
std::string refuse_ring_initiation(Initiation initiation, const PairFacts& /*facts*/, bool on_host) {
  if (initiation == Initiation::queue) return "the caller moves the units of a ring";
  if (initiation == Initiation::stream && !on_host) return "the host moves units, after a fence";
  return refuse_kernel(initiation);
}
std::string refuse_packed_initiation(Initiation initiation, const PairFacts& facts, bool on_host) {
  const std::string refusal = refuse_kernel(initiation);
  return refusal.empty() ? refuse_mpi_initiation(initiation, facts, on_host) : refusal;
}
std::string refuse_direct_initiation(Initiation initiation, const PairFacts& facts, bool on_host) {
  const std::string refusal = refuse_kernel(initiation);
  return refusal.empty() ? refuse_mpi_direct_initiation(initiation, facts, on_host) : refusal;
}

/// In the order of preference. Each scattered element that a peer stores moves a cache line from the other core and back; the lines of a unit
/// of the ring move once.
constexpr std::array transfer_candidates{
    LinkCandidate{Transport::ring, "same host, scattered elements", refuse_ring, refuse_ring_initiation,
                  is_scattered_on_host},
    LinkCandidate{Transport::peer, "same host, zero copy", refuse_peer, refuse_put_initiation},
    LinkCandidate{Transport::ring, "same host, by units of host memory", refuse_ring, refuse_ring_initiation,
                  is_on_host},
    LinkCandidate{Transport::mpi_direct, "packed", refuse_mpi_direct, refuse_direct_initiation},
    LinkCandidate{Transport::ring, "same host, large, by units of host memory", refuse_ring,
                  refuse_ring_initiation, is_large_on_device},
    LinkCandidate{Transport::mpi_staged, "packed, works everywhere", refuse_mpi_staged,
                  refuse_packed_initiation},
};

}  // namespace

Path choose_transfer_path(const PairFacts& facts, const TypedTransfer::Options& options, bool on_host) {
  return select_path(transfer_candidates, "typed transfers", facts,
                     {options.transport, "the option transport"},
                     {options.initiation, "the option initiation"}, on_host);
}

}  // namespace selvage::detail
