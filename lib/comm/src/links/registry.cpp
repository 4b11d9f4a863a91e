#include "registry.hpp"

#include "copy_engine.hpp"
#include "mpi_direct.hpp"
#include "mpi_messages.hpp"
#include "mpi_staged.hpp"
#include "peer.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace selvage::detail {
namespace {

struct Entry {
  LinkCandidate candidate;
  std::unique_ptr<Link> (*make)(TransportParts);
};
constexpr std::array entries{
    Entry{{Transport::peer, "same host, all Views in shared memory", refuse_peer, refuse_peer_initiation},
          make_peer_transport},
    Entry{{Transport::copy_engine, "same host, and no multiprocessor is taken for it", refuse_copy_engine,
           refuse_copy_engine_initiation},
          make_copy_engine_transport},
    Entry{{Transport::mpi_direct, "MPI takes the packed memory as it is", refuse_mpi_direct,
           refuse_mpi_direct_initiation},
          make_mpi_direct_transport},
    Entry{{Transport::mpi_staged, "works everywhere", refuse_mpi_staged, refuse_mpi_initiation},
          make_mpi_staged_transport},
};

}  // namespace

std::span<const LinkCandidate> halo_transports() {
  static const auto candidates = [] {
    std::array<LinkCandidate, entries.size()> result{};
    std::ranges::transform(entries, result.begin(), &Entry::candidate);
    return result;
  }();
  return candidates;
}

std::unique_ptr<Link> make_halo_link(Transport transport, TransportParts parts) {
  const auto made_by = [&](const Entry& entry) { return entry.candidate.transport == transport; };
  return std::ranges::find_if(entries, made_by)->make(std::move(parts));
}

}  // namespace selvage::detail
