#pragma once

#include "layouts/neighbourhood.hpp"
#include "links/mailbox.hpp"
#include "links/transport.hpp"
#include "port_relay.hpp"

#include <selvage/comm/halo_port.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace selvage::detail {

/// Arguments for a port. All references outlive it.
struct PortParts {
  ContextState& context;
  Executor& executor;
  const Shape& shape;
  std::span<const Field> fields;        ///< of the plan
  std::span<const std::size_t> chosen;  ///< those that the port sends, in the caller's order
  std::span<const PeerPlan> peers;      ///< all neighbours, and this rank itself where the grid wraps onto it
  /// In the order of `peers`: why the memory isn\'t mapped; empty where it is.
  std::span<const std::string> refusals;
  GhostReuse ghost_reuse;
  bool has_relays;  ///< some rank has a neighbour whose memory isn't mapped
  int first_tag;    ///< of tags_per_port
};
inline constexpr int tags_per_port = 1 + direction_codes;

/// Owns what a HaloPort points to: flags that neighbours write, tables in memory of the kernels, mappings.
class PortPlan {
 public:
  /// Collective over the neighbours.
  /// \throws Error{usage} when a neighbour's port sends another number of Views
  explicit PortPlan(const PortParts& parts);
  PortPlan(const PortPlan&) = delete;
  PortPlan& operator=(const PortPlan&) = delete;
  ~PortPlan();

  [[nodiscard]] const HaloPort& port() const { return port_; }
  /// \throws Error{timeout}, Error{usage} for what a kernel has found
  void check() const;

 private:
  using Regions = std::vector<PortRegion>;
  using Directions = std::vector<PortDirection>;

  void make_relay(const PortParts& parts, Directions& directions);
  void add_directions(const PortParts& parts, const PeerPlan& peer, Directions& directions);
  void add_mapped(const PortParts& parts, const PeerPlan& peer, const SharedRange& flags, Regions& regions,
                  Directions& directions);
  void add_relayed(const PortParts& parts, const PeerPlan& peer, Regions& regions, Directions& directions);
  [[nodiscard]] std::byte* map(const PortParts& parts, const SharedRange& range);
  [[nodiscard]] std::string describe_proxy() const;
  void set_inner(const Shape& shape);

  ContextState& context_;
  bool ends_together_;  ///< the destructor waits until the neighbours no longer use this rank's memory
  NamedBuffer flags_;
  std::unique_ptr<PortRelay> relay_;  ///< null where all neighbours are mapped
  std::vector<std::shared_ptr<void>> mappings_;
  Buffer regions_;
  Buffer directions_;
  Buffer state_;
  Buffer fault_;
  HaloPort port_;
};

}  // namespace selvage::detail
