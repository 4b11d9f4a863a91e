#pragma once

#include <selvage/agreement.hpp>
#include <selvage/comm/context_options.hpp>
#include <selvage/comm/detail/built_with.hpp>
#include <selvage/comm/detail/device_of.hpp>
#include <selvage/comm/detail/launch_setup.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/machine.hpp>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace selvage {

namespace detail {
class ContextState;
}

/// What every communication object of one group of ranks shares: its communicator, its machine, its memory.
///
/// A Context is a handle: copies refer to the same state, which lives until the last of them (and the last
/// Grid or HaloExchange made from it) is gone. The state must go before MPI_Finalize, and on all ranks together:
/// its destructor waits up to a second for the others, and doesn't free its communicators when a rank is late or has timed out
/// before.
///
/// A Context has one GPU. A process that drives several makes a Context for each, in one order on all
/// processes: Context g then spans GPU g of every process, on a communicator of its own, and its rank p is
/// process p. Contexts don't know of each other; one thread may use them in turn or, under
/// MPI_THREAD_MULTIPLE, a thread each. A thread that makes or calls a halo, a list, a transfer or a collective while
/// another thread does so in the same Context gets Error{usage}, and changes nothing. Whatever is made from a Context lives and runs on its GPU, and every
/// call leaves the calling thread's current CUDA device as it was.
///
/// ContextOptions say how long waits last, and what transports and threads may be used; variables named there overrule them. The
/// setup limit bounds every wait in which ranks make something: Contexts, what is constructed from them, ports, the first
/// lists of a ListHalo or Migration, the buckets that the first step of GradientBuckets makes.
///
/// Environment, beside that:
/// `SELVAGE_LOGICAL_HOSTS=HxR` splits a machine into pretend hosts (see selvage::topo::Machine);
/// `SELVAGE_ALLREDUCE_TABLE` names the table of selvage-tune that chooses algorithms, for rank 0, which reads it for all
/// at the first Allreduce: unset, it is selvage/allreduce.json in $XDG_CONFIG_HOME or ~/.config; `off` is none;
/// `SELVAGE_PROBES` names the figures of `selvage-topo probe` that place ranks and that explain() cites, for rank 0, which
/// reads them for all at the first Grid, HaloExchange or Allreduce: unset, they are in selvage/probes.json there; `off` is
/// none; `SELVAGE_GRID_REORDER=yes|no` overrules GridOptions::reorder;
/// `SELVAGE_GPU_AWARE_MPI=yes|no` says whether to try giving MPI pointers to GPU memory. Unset, it is tried
/// where MPI says that it takes them, or where Open MPI sends through a UCX with CUDA. docs/environment.md lists all variables. The
/// constructor checks their values, but for the contents of files, on every rank; for the first Context of a process
/// rank 0 prints which environment variables begin with SELVAGE_ but are unknown, and whether OpenMP's threads outnumber the
/// processors that they may run on without OMP_WAIT_POLICY=passive.
class Context {
 public:
  /// Collective over `comm`: duplicates it, turns MPI's own abort off on the duplicate, finds the machine,
  /// and probes whether ranks of one host can map each other's memory. Its GPU is the one that Kokkos was
  /// initialised with. For errors that requests report MPICH calls the error handlers of MPI_COMM_WORLD (4.0) or MPI_COMM_SELF:
  /// set MPI_ERRORS_RETURN there too, or ranks that exchange different Views end in MPICH's abort.
  /// \throws Error{usage} when MPI is not initialised, for MPI_COMM_NULL and for an inter-communicator; on every rank for
  ///         bad options of any, and Error{input} for a bad environment variable; Error{timeout} that names the late ranks: they are
  ///         looked for by empty messages with the tags 0x5e21 and 0x5e22 on `comm`
  explicit Context(MPI_Comm comm, const ContextOptions& options = {});
  /// The same for the GPU that `space` runs on, one of several: Kokkos::Cuda(stream) gives an instance on the
  /// GPU of the stream. Threads that make Contexts at the same time pass communicators of their own.
  ///
  /// \param space  Grid::allocate allocates there, so the Context keeps a copy: it and its Views go before
  ///               Kokkos::finalize() and before the stream. For a host space the Context has no GPU.
  template <class Space>
  requires Kokkos::is_execution_space_v<Space> Context(const Space& space, MPI_Comm comm,
                                                       const ContextOptions& options = {})
      : Context(comm, detail::device_of(space), std::any(space), options) {}

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// A duplicate for its users, with MPI_ERRORS_RETURN: the library sends nothing on it but what agree() does. Owned by the
  /// Context.
  [[nodiscard]] MPI_Comm comm() const;
  /// Who shares a host with whom; the same on all ranks.
  [[nodiscard]] const topo::Machine& machine() const;
  /// CUDA's number of its GPU in this process; -1 without one.
  [[nodiscard]] int device() const;
  /// The longest that a wait of what is made already lasts before it becomes Error{timeout}.
  [[nodiscard]] std::chrono::milliseconds timeout() const;
  /// The same for waits in which ranks make something together.
  [[nodiscard]] std::chrono::milliseconds setup_timeout() const;

  /// Runs `work` on every rank and makes all ranks end alike: where it throws on any, all throw the error of the lowest rank that
  /// failed, also those whose own work succeeded. Collective; on comm(), with two tags of its own (0x5e1f, 0x5e20). How long ranks
  /// wait for each other: timeout(). The message names the rank, where not all failed, and the work where `work` threw no Error.
  /// For other communicators and limits: together_naming() of <selvage/agreement.hpp>.
  /// \param what  for messages, such as "reading the mesh"
  /// \throws AgreedError, the same on all ranks; IncompleteError or Error{timeout} that names the rank that didn't come
  void agree(std::string_view what, const std::function<void()>& work) const;

  /// Zeroed host memory that the other ranks of this host can map; page-aligned; not collective.
  ///
  /// It belongs to the Context: it lives until `deallocate_shared`, or until the state is gone.
  /// \throws Error{io} when the system gives none
  [[nodiscard]] void* allocate_shared(std::size_t bytes) const;
  /// Gives one `allocate_shared` block back. Peers that still map it keep their mapping; not collective.
  void deallocate_shared(void* block) const;

  /// How often the flattened layouts of a Context's Datatypes were found instead of made again.
  struct LayoutCacheCounters {
    std::uint64_t hits = 0;       ///< this rank had flattened the layout before
    std::uint64_t host_hits = 0;  ///< another rank of the host had flattened it
    std::uint64_t misses = 0;     ///< flattened here and published to the host
    std::uint64_t uncached = 0;   ///< flattened here, and the cache had no room for it
  };
  /// How this rank's Datatypes were flattened so far; not collective.
  [[nodiscard]] LayoutCacheCounters layout_cache_counters() const;

  /// Below the public interface: what lib/comm's own objects share.
  [[nodiscard]] const std::shared_ptr<detail::ContextState>& state() const { return state_; }

  /// The instance that a Context was made with, if it is one of that type; null else.
  template <class Space>
  [[nodiscard]] const Space* space_as() const {
    return std::any_cast<Space>(&space());
  }

 private:
  Context(MPI_Comm comm, int device, std::any space, const ContextOptions& options);
  [[nodiscard]] const std::any& space() const;

  std::shared_ptr<detail::ContextState> state_;
};

}  // namespace selvage
