#include "tree.hpp"

#include <algorithm>
#include <utility>

namespace selvage::topo {
namespace {

int depth_of(const std::vector<TreeNode>& nodes, int node) {
  int depth = 0;
  for (int up = nodes[node].parent; up >= 0; up = nodes[up].parent) ++depth;
  return depth;
}

}  // namespace

TreeNetwork::TreeNetwork(int hosts, std::vector<TreeNode> nodes) : Network(hosts), nodes_(std::move(nodes)) {
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
    depth_.push_back(depth_of(nodes_, node));
    // Link 2 i leads up from node i, link 2 i + 1 down to it.
    add_link(nodes_[node].name + " up");
    add_link(nodes_[node].name + " down");
  }
}

void TreeNetwork::find_paths(int from, int to, Routing, std::vector<Path>& paths) const {
  paths.resize(1);
  Path& up = paths.front();
  up.clear();
  Path down;
  while (from != to) {
    if (depth_[from] >= depth_[to]) {
      up.push_back(2 * from);
      from = nodes_[from].parent;
    } else {
      down.push_back(2 * to + 1);
      to = nodes_[to].parent;
    }
  }
  up.insert(up.end(), down.rbegin(), down.rend());
}

int TreeNetwork::levels_to_common_switch(int a, int b) const {
  int up_a = 0;
  int up_b = 0;
  while (a != b) {
    if (depth_[a] >= depth_[b]) {
      a = nodes_[a].parent;
      ++up_a;
    } else {
      b = nodes_[b].parent;
      ++up_b;
    }
  }
  return std::max(up_a, up_b);
}

TreeNetwork star_network(std::span<const std::string> host_names) {
  const int hosts = static_cast<int>(host_names.size());
  std::vector<TreeNode> nodes;
  for (const std::string& name : host_names) nodes.push_back({name, hosts});
  nodes.push_back({"switch", -1});
  return TreeNetwork(hosts, std::move(nodes));
}

}  // namespace selvage::topo
