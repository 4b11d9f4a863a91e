#pragma once

#include "layouts/neighbourhood.hpp"
#include "layouts/packing.hpp"
#include "memory/arena.hpp"

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/field.hpp>
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

/// What one rank tells a neighbour of one of its fields, once, when a plan is made. Travels in a message.
struct FieldCard {
  SharedRange range;
  std::int32_t is_shared = 0;
  MemoryKind memory = MemoryKind::host;
  std::array<std::int64_t, 4> strides{};
  std::int64_t element_bytes = 0;
  std::int64_t components = 1;
  std::array<char, 64> label{};
};

/// A neighbour as a transport sees it.
struct PeerPlan {
  Neighbour neighbour;
  std::vector<FieldCard> cards;
};

/// What a transport is made from; all references outlive it.
struct TransportParts {
  ContextState& context;
  const Executor& executor;
  std::span<const Field> fields;
  int axes;
  std::vector<PeerPlan> peers;  ///< the neighbours it is to serve
  GhostReuse ghost_reuse;
  Initiation initiation;
  int first_tag;  ///< of tags_per_plan
};
inline constexpr int max_fields = 64;
inline constexpr int tags_per_plan = max_fields + 1;

/// One exchange in flight.
struct Step {
  Executor& executor;
  std::uint64_t epoch;   ///< grows by one per exchange of a plan, the same on all ranks
  std::uint64_t fields;  ///< bit set
  bool reverse;          ///< ghosts to owners
  bool guarded;  ///< whether overwriting needs a credit even with GhostReuse::alternating; the same on all
                 ///< ranks
  bool at_once;  ///< whether nothing is enqueued between start and the first progress

  [[nodiscard]] bool has(std::size_t field) const { return (fields >> field & 1) != 0; }
};

/// Moves the halos between this rank and the neighbours it was made for. All calls of one exchange come in
/// the order start, progress until true, and, for a reverse one, append_contributions.
class HaloTransport {
 public:
  HaloTransport() = default;
  HaloTransport(const HaloTransport&) = delete;
  HaloTransport& operator=(const HaloTransport&) = delete;
  virtual ~HaloTransport() = default;

  /// Sends what may go at once; never waits for another rank.
  virtual void start(const Step& step) = 0;
  /// Polls; sends what has become possible; true once everything has been sent and has landed.
  virtual bool progress(const Step& step) = 0;
  /// What has landed for the cells this rank owns.
  virtual void append_contributions(std::size_t field, std::vector<Contribution>& contributions) const = 0;
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
