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
  bool guarded;  ///< whether overwriting needs a credit even with GhostReuse::alternating; the same on all
                 ///< ranks
  bool at_once;  ///< whether nothing is enqueued between start and the first progress

  [[nodiscard]] bool has(std::size_t field) const { return (fields >> field & 1) != 0; }
};

/// How bytes get from this rank to others and back: the cells of a halo, or the elements of typed transfers, between this rank
/// and those it was made for. All calls of one exchange come in the order start, progress until true, and, for a reverse one,
/// append_contributions.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  /// Sends what may go at once; never waits for another rank.
  virtual void start(const Step& step) = 0;
  /// Polls; sends what has become possible; true once everything has been sent and has landed.
  virtual bool progress(const Step& step) = 0;
  /// What has landed for the cells this rank owns, of links that were made for reductions.
  virtual void append_contributions(std::size_t /*field*/,
                                    std::vector<Contribution>& /*contributions*/) const {}
  /// Makes what exchanges of `fields` need but can't be made while their stream is captured.
  /// \throws Error{unsupported}: what this transport does can't be captured
  virtual void prepare_capture(std::uint64_t /*fields*/) {
    throw Error(ErrorKind::unsupported,
                "only the transports peer and copy_engine with the initiation stream can be captured in a "
                "graph: explain() says what was chosen, and why");
  }
  /// The end, once: closes what it maps of others, who free that when all ranks have come here.
  virtual void unmap() noexcept {}
  /// Throws what a wait on a device has found since the last call; see HaloExchange::check.
  virtual void check() const {}
  /// Who keeps progress() from being done and what of them was seen, for a timeout's message.
  [[nodiscard]] virtual std::string describe_late(const Step& step) const = 0;
};

}  // namespace selvage::detail
