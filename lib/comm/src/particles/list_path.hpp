#pragma once

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

/// Another rank, or this one, and what the lists of both hold for each other.
struct ListLink {
  int rank = 0;
  ListRange out;  ///< entries that this rank sends
  ListRange in;   ///< ghosts that it receives; as many as the other rank's `out`
};

[[nodiscard]] std::string_view to_string(ListOperation operation);

/// One operation in flight.
struct ListStep {
  Executor& executor;
  ListMover* mover;  ///< null when no particles move
  ListOperation operation;
  std::uint64_t epoch;             ///< grows by one per operation of a plan, the same on both ends of a link
  const Error* failure = nullptr;  ///< with ListOperation::failure

  [[nodiscard]] bool moves_particles() const { return mover != nullptr; }
  [[nodiscard]] const ListRange& sent(const ListLink& link) const {
    return is_reverse() ? link.in : link.out;
  }
  [[nodiscard]] const ListRange& received(const ListLink& link) const {
    return is_reverse() ? link.out : link.in;
  }
  /// Whether the two ranks have anything to tell each other.
  [[nodiscard]] bool includes(const ListLink& link) const {
    return !moves_particles() || link.in.count > 0 || link.out.count > 0;
  }
  [[nodiscard]] std::int64_t bytes(const ListRange& range) const {
    return moves_particles() ? range.count * mover->particle_bytes() : 0;
  }
  /// What this rank says of itself.
  [[nodiscard]] ListHeader header(const ListLink& link) const;
  /// \throws Error{usage} when the other rank does something else, or what kept it from doing anything
  void require_same(const ListLink& link, const ListHeader& theirs, const ListFailure& reason) const;

 private:
  [[nodiscard]] bool is_reverse() const { return operation == ListOperation::scatter_add; }
};

/// \throws Error{usage} when a rank does not what this one does, or what kept it from doing anything
/// \param announced  how many particles this one expects
void require_same_header(int rank, std::uint64_t epoch, const ListHeader& mine, const ListHeader& theirs,
                         std::int64_t announced, const ListFailure& reason);

/// What has come, or is to go, over one link.
struct ListArrival {
  ListLink* link;
  ListPart part;
};

/// Moves particles over the links that it was given: start, then put until true and progress until true.
class ListPath {
 public:
  ListPath() = default;
  ListPath(const ListPath&) = delete;
  ListPath& operator=(const ListPath&) = delete;
  virtual ~ListPath() = default;

  /// Takes links over, from now on; the ranks at their other ends do the same at the same time. Links outlive the path.
  virtual void connect(std::span<ListLink* const> links, Executor& executor) = 0;
  /// Makes room for what will come; never waits for another rank.
  virtual void start(const ListStep& step) = 0;
  /// Packs and sends what may go; true once all has been packed.
  virtual bool put(const ListStep& step) = 0;
  /// Appends what has come since the last call; true once everything has left and come. Blocks stay until the next
  /// start(). \throws what ListStep::require_same does
  virtual bool progress(const ListStep& step, std::vector<ListArrival>& arrivals) = 0;
  /// Tells all ranks of its links why this one takes no part in this step.
  virtual void fail(const ListStep& step) = 0;
  /// Who keeps put() or progress() from being done, for a timeout's message.
  [[nodiscard]] virtual std::string describe_late(const ListStep& step) const = 0;
};

/// This rank to itself, through a block of its own.
[[nodiscard]] std::unique_ptr<ListPath> make_self_lists();
/// Ranks of one host, through landing blocks in the receiver's memory, two each by parity of the epoch. Both ranks of a
/// link release a flag for every operation, whichever way particles go: who has seen the other's flag of the epoch
/// before knows that the other is done with the epoch before that, so that its block may be written again. No credit
/// is waited for. A block that is too small for what will come is replaced by its owner, which says so by a flag.
[[nodiscard]] std::unique_ptr<ListPath> make_peer_lists(ContextState& context, int tag);
/// Pack, MPI, unpack. \param staged  whether MPI is given host memory instead of the packed block itself
[[nodiscard]] std::unique_ptr<ListPath> make_mpi_lists(ContextState& context, int tag, bool staged);

}  // namespace selvage::detail
