#include "host_tree.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace selvage::topo {
namespace {

/// Switches by the names from the top down to them, since a name may occur again below another one.
class SwitchTree {
 public:
  explicit SwitchTree(std::vector<TreeNode> hosts) : nodes_(std::move(hosts)) {}

  int add(const std::vector<std::string>& path) {
    int parent = -1;
    std::vector<std::string> above;
    for (const std::string& name : path) {
      above.push_back(name);
      const auto [entry, is_new] = numbers_.try_emplace(above, static_cast<int>(nodes_.size()));
      if (is_new) nodes_.push_back({name, parent});
      parent = entry->second;
    }
    return parent;
  }
  void set_parent(int node, int parent) { nodes_[static_cast<std::size_t>(node)].parent = parent; }

  [[nodiscard]] std::vector<TreeNode> joined() && {
    const auto is_root = [](const TreeNode& node) { return node.parent < 0; };
    if (std::ranges::count_if(nodes_, is_root) == 1) return std::move(nodes_);
    const int top = static_cast<int>(nodes_.size());
    for (TreeNode& node : nodes_) {
      if (is_root(node)) node.parent = top;
    }
    nodes_.push_back({"(top)", -1});
    return std::move(nodes_);
  }

 private:
  std::vector<TreeNode> nodes_;
  std::map<std::vector<std::string>, int> numbers_;
};

}  // namespace

std::shared_ptr<const TreeNetwork> tree_of_hosts(const Machine& machine) {
  std::vector<std::string> names;
  std::vector<TreeNode> leaves;
  for (const LogicalHost& host : machine.hosts()) {
    names.push_back(machine.physical_hosts()[host.physical_host].name);
    leaves.push_back({names.back(), -1});
  }
  const bool all_known = std::ranges::all_of(
      machine.physical_hosts(), [](const PhysicalHost& host) { return host.switches.is_known(); });
  if (!all_known) return std::make_shared<const TreeNetwork>(star_network(names));
  SwitchTree tree(std::move(leaves));
  for (int host = 0; host < machine.host_count(); ++host) {
    const PhysicalHost& physical = machine.physical_hosts()[machine.hosts()[host].physical_host];
    tree.set_parent(host, tree.add(physical.switches.value()));
  }
  return std::make_shared<const TreeNetwork>(machine.host_count(), std::move(tree).joined());
}

}  // namespace selvage::topo
