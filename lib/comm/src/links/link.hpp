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

/// Moves bytes between this rank and the ranks that the link was made for. For each operation, which is a Step or a ListStep, call
/// start, then progress until it returns true.
template <class Operation>
class LinkFor {
 public:
  LinkFor() = default;
  LinkFor(const LinkFor&) = delete;
  LinkFor& operator=(const LinkFor&) = delete;
  virtual ~LinkFor() = default;

  /// Prepares and sends what can be without waiting for another rank.
  virtual void start(const Operation& operation) = 0;
  /// Polls once, and sends what can be sent by now. \return true when everything has been sent and received
  virtual bool progress(const Operation& operation) = 0;
  /// Throws the error that a wait on a GPU has met since the last call; see HaloExchange::check.
  virtual void check() const {}
  /// The ranks that progress() still waits for and the last epoch seen of each, for the message of a timeout.
  [[nodiscard]] virtual std::string describe_late(const Operation& operation) const = 0;
};

/// Polls each link once. \return true when all have sent and received everything
template <class Links, class Operation>
bool progress_all(const Links& links, const Operation& operation) {
  bool done = true;
  for (const auto& link : links) done = link->progress(operation) && done;
  return done;
}

/// Of links to several ranks, those that are late.
template <class Links, class Operation>
[[nodiscard]] std::string describe_late(const Links& links, const Operation& operation) {
  std::string late;
  for (const auto& link : links) {
    const std::string some = link->describe_late(operation);
    if (!some.empty()) late += (late.empty() ? "" : ", ") + some;
  }
  return late;
}

/// For the cells of a halo, or the elements of typed transfers. A reverse exchange ends with append_contributions.
class Link : public LinkFor<Step> {
 public:
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
};

}  // namespace selvage::detail
