#pragma once

#include <selvage/topo/network.hpp>

#include <cstdint>

namespace selvage::topo {

struct DragonflyShape {
  int hosts_per_router = 4;
  int routers_per_group = 4;
  int groups = 1;
  int cables_per_pair = 2;  ///< between each two groups, at different routers where there are enough

  [[nodiscard]] int hosts_per_group() const { return hosts_per_router * routers_per_group; }
  [[nodiscard]] int hosts() const { return hosts_per_group() * groups; }
};

/// Groups of routers: within a group all routers are joined, and so are each two groups. Paths are minimal, with one
/// cable between groups; fixed ones choose it by the destination, adaptive ones use all cables of the pair.
class Dragonfly : public Network {
 public:
  explicit Dragonfly(const DragonflyShape& shape);

  void find_paths(int from, int to, Routing routing, std::vector<Path>& paths) const override;
  /// 1 at the same router, 2 in the same group, otherwise 3.
  [[nodiscard]] std::uint32_t level(int a, int b) const;

 private:
  void find_path(int from, int to, int cable, Path& path) const;
  /// The router that a group's cable to another group starts from.
  [[nodiscard]] int gateway(int group, int other, int cable) const;
  /// Adds the link between two routers of a group, unless they are one.
  void step(Path& path, int from_router, int to_router) const;

  DragonflyShape shape_;
  int local_links_ = 0;
  int global_links_ = 0;
};

}  // namespace selvage::topo
