#pragma once

#include <selvage/comm/context.hpp>
#include <selvage/comm/datatype.hpp>
#include <selvage/comm/detail/describe_view.hpp>
#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/options.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace selvage {

namespace detail {
class TransferPlan;
}

/// Typed messages between ranks, planned once: what MPI_Send_init and MPI_Recv_init do with derived datatypes,
/// for a fixed set of partners.
///
/// Between ranks of one host nothing is packed: at planning the sender intersects its flattened layout with
/// the receiver's, which it reads from the host's layout cache, and each transfer is one pass (on a GPU one
/// kernel) that loads local elements and stores them where they belong in the other rank's View (Chu et al.,
/// "Zero-copy Datatype Transfer"). Scattered elements in host memory, and Views there that can't be mapped, go through a
/// ring of units that both ranks map, one of them filled while others are emptied (Ji et al., IV-C). So do 128 KB and more
/// of GPU memory that neither can be mapped nor given to MPI, by page-locked units; forced, the ring serves whatever memory
/// the Views lie in at either end. Everything else travels packed over MPI.
///
/// The i-th end that rank a names for sending to b matches the i-th that b names for receiving from a; both hold the
/// same sequence of elements, in whatever layouts. Elements of a receiving type must not overlap. Views stay allocated,
/// at the same address, as long as the TypedTransfer lives.
class TypedTransfer {
 public:
  /// This rank's end of a transfer: the elements of a Datatype in a View, to or from one rank.
  struct End {
    int rank = 0;          ///< the other end's; may be this rank itself
    detail::Field memory;  ///< a View with its type taken off
    Datatype datatype;     ///< displacement 0 is the View's first element
  };

  /// How a TypedTransfer moves its elements. Partners pass the same transport and initiation, or the constructor throws
  /// Error{usage}; what is forced and isn't possible is Error{unsupported}.
  struct Options {
    /// Force peer, ring, mpi_direct or mpi_staged for all partners. Else the first of them that is possible: on hosts ring
    /// before peer for elements that lie scattered, in GPU memory ring after mpi_direct, from 128 KB on.
    std::optional<Transport> transport = {};
    /// Force `queue`: a service thread of this rank then sends and receives the packed elements, over peer, mpi_direct or
    /// mpi_staged, and on a GPU no call waits for the GPU. Else the caller starts them: as `stream` where the transport can be
    /// enqueued, from the `host` after a fence where it can't.
    std::optional<Initiation> initiation = {};
    /// Of ring: how much this rank receives at a time; 0: 256 KB where a View of the pair lies in GPU memory, else 32 KB.
    std::size_t ring_unit_bytes = 0;
  };

  /// Collective over the context's ranks; ranks without ends take part. Ends that no rank matches end as
  /// Error{timeout} that names it.
  /// \param space  where copies run; the instance is only used during the call
  /// \throws Error{usage} on every rank: ends that don't match in number or elements, types that reach beyond
  ///         their View, ranks that don't exist, options that differ between partners; Error{unsupported}: a forced transport
  ///         or initiation that isn't possible
  template <class Space>
  TypedTransfer(const Space& space, const Context& context, const std::vector<End>& sends,
                const std::vector<End>& receives, const Options& options)
      : plan_(make_plan(detail::KokkosExecutor<Space>(space), context, sends, receives, options)) {}
  template <class Space>
  TypedTransfer(const Space& space, const Context& context, const std::vector<End>& sends,
                const std::vector<End>& receives)
      : TypedTransfer(space, context, sends, receives, Options{}) {}
  TypedTransfer(TypedTransfer&&) noexcept;
  TypedTransfer& operator=(TypedTransfer&&) noexcept;
  ~TypedTransfer();

  /// start() and finish(). Collective among partners.
  template <class Space>
  void run(const Space& space) {
    start(space);
    finish(space);
  }
  /// Says that this rank's receiving elements may be overwritten, and sends what may go at once. Until
  /// finish(), what is sent must not be written and what is received not be read. Never waits for a rank.
  template <class Space>
  void start(const Space& space) {
    detail::KokkosExecutor<Space> executor(space);
    start_on(executor);
  }
  /// Everything has left and arrived when it returns (host spaces), or before what `space` is given next.
  /// \throws Error{timeout} that names the late rank, the epoch wanted and the epoch seen
  template <class Space>
  void finish(const Space& space) {
    detail::KokkosExecutor<Space> executor(space);
    finish_on(executor);
  }

  /// Throws what kernels found while they waited; see HaloExchange::check.
  void check() const;
  /// Per partner: transport, initiation, bytes, copies in how many runs, and why. The same text on every call.
  [[nodiscard]] std::string explain() const;

 private:
  static std::shared_ptr<detail::TransferPlan> make_plan(const detail::Executor& executor,
                                                         const Context& context,
                                                         const std::vector<End>& sends,
                                                         const std::vector<End>& receives,
                                                         const Options& options);
  void start_on(detail::Executor& executor);
  void finish_on(detail::Executor& executor);

  std::shared_ptr<detail::TransferPlan> plan_;  // shared only so that its type may stay incomplete here
};

/// An end in the memory of `view`, which must stay allocated as long as the TypedTransfer lives. The datatype's displacement 0 is
/// view.data().
template <class View>
[[nodiscard]] TypedTransfer::End transfer_end(int rank, const View& view, const Datatype& datatype) {
  return {rank, detail::describe_view(view), datatype};
}

}  // namespace selvage
