#include "registry.hpp"

#include "copy_engine.hpp"
#include "mpi_direct.hpp"
#include "mpi_messages.hpp"
#include "mpi_staged.hpp"
#include "peer.hpp"

#include <array>

namespace selvage::detail {

std::span<const TransportEntry> transports() {
  static const std::array entries{
      TransportEntry{Transport::peer, "same host, all Views in shared memory", refuse_peer,
                     refuse_peer_initiation, make_peer_transport},
      TransportEntry{Transport::copy_engine, "same host, and no multiprocessor is taken for it",
                     refuse_copy_engine, refuse_copy_engine_initiation, make_copy_engine_transport},
      TransportEntry{Transport::mpi_direct, "MPI takes the packed memory as it is", refuse_mpi_direct,
                     refuse_mpi_direct_initiation, make_mpi_direct_transport},
      TransportEntry{Transport::mpi_staged, "works everywhere", refuse_mpi_staged, refuse_mpi_initiation,
                     make_mpi_staged_transport},
  };
  return entries;
}

}  // namespace selvage::detail
