#pragma once

#include "layouts/packing.hpp"

#include <selvage/comm/detail/executor.hpp>
#include <selvage/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::detail {

inline constexpr int max_fields = 64;

/// One exchange in flight.
struct Step {
  Executor& executor;
  std::uint64_t epoch;   ///< grows by one per exchange of a plan, the same on all ranks
  std::uint64_t fields;  ///< bit set; a typed transfer is one field
  bool reverse;          ///< ghosts to owners
  /// Whether a put waits for a credit even with GhostReuse::alternating; the same on all ranks.
  bool guarded;
  bool at_once;  ///< whether nothing is enqueued between start and the first progress

  [[nodiscard]] bool has(std::size_t field) const { return (fields >> field & 1) != 0; }
};

/// Moves bytes between this rank and the ranks that the link was made for: the cells of a halo, or the elements of typed
/// transfers. The calls of one exchange come in this order: start, then progress until it returns true, then, for a reverse
/// exchange, append_contributions.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  /// Sends what can be sent without waiting for another rank.
  virtual void start(const Step& step) = 0;
  /// Polls once, and sends what can be sent by now. \return true when everything has been sent and received
  virtual bool progress(const Step& step) = 0;
  /// Appends where the neighbours' contributions to the cells of this rank lie. Only for links made for reductions.
  virtual void append_contributions(std::size_t /*field*/,
                                    std::vector<Contribution>& /*contributions*/) const {}
  /// Allocates and registers what exchanges of `fields` need, since that is impossible while their stream is captured.
  /// \throws Error{unsupported} for a transport whose exchanges can't be captured
  virtual void prepare_capture(std::uint64_t /*fields*/) {
    throw Error(ErrorKind::unsupported,
                "only the transports peer and copy_engine with the initiation stream can be captured in a "
                "graph: explain() says what was chosen, and why");
  }
  /// Unmaps the memory of other ranks. Called once, at the end; the owners free it after all ranks have called this.
  virtual void unmap() noexcept {}
  /// Throws the error that a wait on a GPU has met since the last call; see HaloExchange::check.
  virtual void check() const {}
  /// The ranks that progress() still waits for and the last epoch seen of each, for the message of a timeout.
  [[nodiscard]] virtual std::string describe_late(const Step& step) const = 0;
};

}  // namespace selvage::detail
