#pragma once

#include "links/link.hpp"
#include "memory/arena.hpp"

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/list_mover.hpp>
#include <selvage/comm/detail/list_program.hpp>
#include <selvage/comm/options.hpp>
#include <selvage/error.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// A rank, which may be this one, and the entries of the lists that are exchanged with it.
struct ListLink {
  int rank = 0;
  ListRange out;  ///< entries that this rank sends
  ListRange in;   ///< ghosts that it receives; as many as the other rank's `out`
};

[[nodiscard]] std::string_view to_string(ListOperation operation);

/// The block that was received, or is to be sent, over one link.
struct ListArrival {
  ListLink* link;
  ListPart part;
};

/// One operation that is underway.
struct ListStep {
  Executor& executor;
  ListMover* mover;  ///< null when no particles move
  ListOperation operation;
  std::uint64_t epoch;  ///< grows by one per operation of a plan, the same on both ends of a link
  /// Where progress() appends the blocks that have arrived. They stay valid until the next start(). Null with ListOperation::failure.
  std::vector<ListArrival>* arrivals;
  const Error* failure = nullptr;  ///< with ListOperation::failure

  [[nodiscard]] bool moves_particles() const { return mover != nullptr; }
  [[nodiscard]] const ListRange& sent(const ListLink& link) const {
    return is_reverse() ? link.in : link.out;
  }
  [[nodiscard]] const ListRange& received(const ListLink& link) const {
    return is_reverse() ? link.out : link.in;
  }
  /// Whether the two ranks exchange anything.
  [[nodiscard]] bool includes(const ListLink& link) const {
    return !moves_particles() || link.in.count > 0 || link.out.count > 0;
  }
  [[nodiscard]] std::int64_t bytes(const ListRange& range) const {
    return moves_particles() ? range.count * mover->particle_bytes() : 0;
  }
  /// The description of this rank's operation, for the other rank.
  [[nodiscard]] ListHeader header(const ListLink& link) const;
  /// \throws Error{usage} when the other rank does something else, or what kept it from doing anything
  void require_same(const ListLink& link, const ListHeader& theirs, const ListFailure& reason) const;

 private:
  [[nodiscard]] bool is_reverse() const { return operation == ListOperation::scatter_add; }
};

/// \throws Error{usage} when a rank does not what this one does, or what kept it from doing anything. The message may be passed on, so
///         it says nothing of "this rank"
/// \param announced  how many particles this one expects
void require_same_header(int rank, std::uint64_t epoch, const ListHeader& mine, const ListHeader& theirs,
                         std::int64_t announced, const ListFailure& reason);

/// Moves particles over its links. start() grows the blocks for what will be received; progress() throws what ListStep::require_same
/// does. Between them call put() until it returns true.
class ListPath : public LinkFor<ListStep> {
 public:
  /// Adds links to those that it carries. The ranks at their other ends must do the same at the same time. Links outlive the path.
  virtual void connect(std::span<ListLink* const> links, Executor& executor) = 0;
  /// Packs and sends what can be sent by now. \return true when everything has been packed
  virtual bool put(const ListStep& step) = 0;
  /// Tells the ranks of all its links why this rank takes no part in the operation.
  virtual void fail(const ListStep& step) = 0;
};

/// For the link from this rank to itself, by a block of its own.
[[nodiscard]] std::unique_ptr<ListPath> make_self_lists();
/// For ranks of one host, by landing blocks in the receiver's memory: one for even and one for odd epochs. Both ranks of a link release a
/// flag for every operation, in whichever direction particles go. A rank that has seen the other's flag of the last epoch knows that the
/// other has finished the epoch before that, so the block of that epoch may be written again; credits are not needed. If a block is too
/// small for what will arrive, its owner replaces it and says so by a flag.
[[nodiscard]] std::unique_ptr<ListPath> make_peer_lists(ContextState& context, int tag);
/// Packs, sends and receives over MPI, and unpacks. \param staged  whether MPI is given host memory instead of the packed block
[[nodiscard]] std::unique_ptr<ListPath> make_mpi_lists(ContextState& context, int tag, bool staged);

}  // namespace selvage::detail
