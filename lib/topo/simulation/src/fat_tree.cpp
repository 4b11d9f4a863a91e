#include "fat_tree.hpp"

#include <fmt/format.h>

namespace selvage::topo {

FatTree::FatTree(const FatTreeShape& shape) : Network(shape.hosts()), shape_(shape) {
  // Links come in pairs: the even one leads up, the odd one down.
  for (int host = 0; host < shape.hosts(); ++host) {
    add_link(fmt::format("host {} up", host));
    add_link(fmt::format("host {} down", host));
  }
  leaf_links_ = static_cast<int>(links().size());
  for (int leaf = 0; leaf < shape.leaves_per_pod * shape.pods; ++leaf) {
    for (int spine = 0; spine < shape.hosts_per_leaf; ++spine) {
      add_link(fmt::format("leaf {} spine {} up", leaf, spine));
      add_link(fmt::format("leaf {} spine {} down", leaf, spine));
    }
  }
  spine_links_ = static_cast<int>(links().size());
  for (int pod = 0; pod < shape.pods; ++pod) {
    for (int spine = 0; spine < shape.hosts_per_leaf; ++spine) {
      for (int core = 0; core < shape.leaves_per_pod; ++core) {
        add_link(fmt::format("pod {} spine {} core {} up", pod, spine, core));
        add_link(fmt::format("pod {} spine {} core {} down", pod, spine, core));
      }
    }
  }
}

std::uint32_t FatTree::level(int a, int b) const {
  if (a / shape_.hosts_per_leaf == b / shape_.hosts_per_leaf) return 1;
  return a / shape_.hosts_per_pod() == b / shape_.hosts_per_pod() ? 2 : 3;
}

void FatTree::find_path(int from, int to, int spine, int core, Path& path) const {
  const auto leaf_link = [&](int host) {
    return leaf_links_ + 2 * (host / shape_.hosts_per_leaf * shape_.hosts_per_leaf + spine);
  };
  const auto spine_link = [&](int host) {
    const int pod_spine = host / shape_.hosts_per_pod() * shape_.hosts_per_leaf + spine;
    return spine_links_ + 2 * (pod_spine * shape_.leaves_per_pod + core);
  };
  switch (level(from, to)) {
    case 1:
      path = {2 * from, 2 * to + 1};
      return;
    case 2:
      path = {2 * from, leaf_link(from), leaf_link(to) + 1, 2 * to + 1};
      return;
    default:
      path = {2 * from, leaf_link(from), spine_link(from), spine_link(to) + 1, leaf_link(to) + 1, 2 * to + 1};
  }
}

void FatTree::find_paths(int from, int to, Routing routing, std::vector<Path>& paths) const {
  const int spines = shape_.hosts_per_leaf;
  const int cores = shape_.leaves_per_pod;
  if (routing == Routing::fixed) {
    paths.resize(1);
    return find_path(from, to, to % spines, to / spines % cores, paths.front());
  }
  const std::uint32_t common = level(from, to);
  const int ways_up = common == 1 ? 1 : spines;
  const int ways_across = common == 3 ? cores : 1;
  paths.resize(static_cast<std::size_t>(ways_up) * ways_across);
  for (int spine = 0; spine < ways_up; ++spine) {
    for (int core = 0; core < ways_across; ++core)
      find_path(from, to, spine, core, paths[spine * ways_across + core]);
  }
}

}  // namespace selvage::topo
