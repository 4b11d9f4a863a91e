#pragma once

#include <selvage/topo/network.hpp>

#include <cstdint>

namespace selvage::topo {

struct FatTreeShape {
  int hosts_per_leaf = 8;
  int leaves_per_pod = 4;
  int pods = 1;

  [[nodiscard]] int hosts_per_pod() const { return hosts_per_leaf * leaves_per_pod; }
  [[nodiscard]] int hosts() const { return hosts_per_pod() * pods; }
};

/// Three levels of switches with as many cables up as down: each leaf switch reaches each of its pod's spines by one
/// cable, there being as many spines as hosts per leaf; spine s of each pod reaches core switches s * leaves_per_pod
/// and following. A fixed path is the destination's: the cable up is chosen by its number, as in D-mod-k routing.
class FatTree : public Network {
 public:
  explicit FatTree(const FatTreeShape& shape);

  void find_paths(int from, int to, Routing routing, std::vector<Path>& paths) const override;
  /// 1 at the same leaf switch, 2 in the same pod, otherwise 3.
  [[nodiscard]] std::uint32_t level(int a, int b) const;

 private:
  void find_path(int from, int to, int spine, int core, Path& path) const;

  FatTreeShape shape_;
  int leaf_links_ = 0;   // the first link between a leaf switch and a spine
  int spine_links_ = 0;  // the first link between a spine and a core switch
};

}  // namespace selvage::topo
