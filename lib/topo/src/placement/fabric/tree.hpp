#pragma once

#include <selvage/topo/network.hpp>

#include <span>
#include <string>
#include <vector>

namespace selvage::topo {

/// A switch of a tree, or a host as a leaf of it.
struct TreeNode {
  std::string name;
  int parent = -1;  ///< -1 for the root
};

/// Hosts below a tree of switches with one cable between each node and its parent.
class TreeNetwork : public Network {
 public:
  /// \param nodes  the hosts first, then the switches; one root
  TreeNetwork(int hosts, std::vector<TreeNode> nodes);

  void find_paths(int from, int to, Routing routing, std::vector<Path>& paths) const override;
  /// Levels up from two hosts to their first common switch: the larger of the two ways.
  [[nodiscard]] int levels_to_common_switch(int a, int b) const;

 private:
  std::vector<TreeNode> nodes_;
  std::vector<int> depth_;
};

/// All hosts at one switch.
[[nodiscard]] TreeNetwork star_network(std::span<const std::string> host_names);

}  // namespace selvage::topo
