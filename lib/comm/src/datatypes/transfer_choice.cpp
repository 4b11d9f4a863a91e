#include "transfer_choice.hpp"

#include "links/mpi_direct.hpp"
#include "links/mpi_messages.hpp"
#include "links/mpi_staged.hpp"
#include "links/peer.hpp"
#include "proxy/proxy.hpp"
#include "transfer_parts.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace selvage::detail {
namespace {

/// Shorter blocks in the mean are scattered.
constexpr std::int64_t least_block_bytes = 32;

bool is_on_host(const PairFacts& facts) {
  return !facts.device_memory && refuse_ring(facts).empty();
}
bool is_scattered_on_host(const PairFacts& facts) {
  return is_on_host(facts) && facts.block_bytes < least_block_bytes;
}
bool is_any(const PairFacts&) {
  return true;
}

std::string refuse_kernel(Initiation initiation) {
  return initiation == Initiation::kernel ? "kernels start no typed transfer" : "";
}
std::string refuse_put_initiation(Initiation initiation, const PairFacts& /*facts*/, bool on_host) {
  if (initiation == Initiation::queue) return Proxy::refusal(on_host);
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

struct PathCandidate {
  Transport transport;
  std::string (*refuse)(const PairFacts&);
  std::string (*refuse_initiation)(Initiation, const PairFacts&, bool on_host);
  bool (*suits)(const PairFacts&);  ///< where it isn't forced
  const char* reason;
};
/// In the order of preference. Each element that peers of a host scatter costs a line that the other core holds, twice;
/// a unit's lines go over once.
constexpr std::array path_candidates{
    PathCandidate{Transport::ring, refuse_ring, refuse_ring_initiation, is_scattered_on_host,
                  "same host, scattered elements"},
    PathCandidate{Transport::peer, refuse_peer, refuse_put_initiation, is_any, "same host, zero copy"},
    PathCandidate{Transport::ring, refuse_ring, refuse_ring_initiation, is_on_host,
                  "same host, by units of host memory"},
    PathCandidate{Transport::mpi_direct, refuse_mpi_direct, refuse_direct_initiation, is_any, "packed"},
    PathCandidate{Transport::mpi_staged, refuse_mpi_staged, refuse_packed_initiation, is_any,
                  "packed, works everywhere"},
};

}  // namespace

Path choose_transfer_path(const PairFacts& facts, const TransferOptions& options, bool on_host) {
  std::string refusals;
  for (const PathCandidate& candidate : path_candidates) {
    if (options.transport ? candidate.transport != *options.transport : !candidate.suits(facts)) continue;
    const auto refuse_initiation = [&](Initiation initiation) {
      return candidate.refuse_initiation(initiation, facts, on_host);
    };
    const Initiation initiation = options.initiation.value_or(
        refuse_initiation(Initiation::stream).empty() ? Initiation::stream : Initiation::host);
    std::string refusal = candidate.refuse(facts);
    if (refusal.empty()) refusal = refuse_initiation(initiation);
    if (refusal.empty()) {
      return {candidate.transport, initiation,
              options.transport ? "forced by the option transport" : candidate.reason + refusals};
    }
    refusals += fmt::format("; not {}: {}", to_string(candidate.transport), refusal);
  }
  throw Error(ErrorKind::unsupported, fmt::format("no typed transfer with rank {}{}", facts.rank, refusals));
}

}  // namespace selvage::detail
