#pragma once

#include "neighbourhood.hpp"
#include "transports/mailbox.hpp"
#include "transports/transport.hpp"

#include <selvage/comm/halo_port.hpp>

#include <memory>
#include <span>
#include <vector>

namespace selvage::detail {

/// What a port is made from; all references outlive it.
struct PortParts {
  ContextState& context;
  Executor& executor;
  const Shape& shape;
  std::span<const Field> fields;        ///< of the plan
  std::span<const std::size_t> chosen;  ///< those that the port sends, in the caller's order
  std::span<const PeerPlan> peers;      ///< all neighbours, this rank itself among them where the grid wraps
  GhostReuse ghost_reuse;
  int tag;
};

/// Owns what a HaloPort points to: flags that neighbours write, tables in memory of the kernels, mappings.
class PortPlan {
 public:
  /// Collective over the neighbours. Every neighbour's Views can be mapped.
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

  [[nodiscard]] PortFlags* map_flags(const PortParts& parts, const PeerPlan& peer, const SharedRange& range);
  void add_peer(const PortParts& parts, const PeerPlan& peer, PortFlags* remote, Regions& regions,
                Directions& directions);
  [[nodiscard]] std::byte* map(const PortParts& parts, const SharedRange& range);
  void set_inner(const Shape& shape);

  ContextState& context_;
  bool runs_on_host_;
  NamedBuffer flags_;
  std::vector<std::shared_ptr<void>> mappings_;
  Buffer regions_;
  Buffer directions_;
  Buffer state_;
  Buffer fault_;
  HaloPort port_;
};

}  // namespace selvage::detail
