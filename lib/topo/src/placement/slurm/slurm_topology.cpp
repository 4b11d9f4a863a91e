#include "placement/fabric/tree.hpp"
#include "slurm_lines.hpp"
#include "text/text_file.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/fabric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace selvage::topo {
namespace {

/// A switch, or a block, as a line tells it.
struct SwitchLine {
  std::string file;
  std::size_t line = 0;
  std::string name;
  std::vector<std::string> nodes;
  std::vector<std::string> switches;
};

[[noreturn]] void fail(const SwitchLine& at, const std::string& what) {
  fail_at(at.file, at.line, what);
}

/// Between blanks there are lists too, as Slurm takes them.
std::vector<std::string> names(std::string_view lists, const SlurmLine& line) {
  std::vector<std::string> all;
  for (std::string_view list : split(lists, ' ')) {
    list = trimmed(list);
    if (list.ends_with(',')) list.remove_suffix(1);
    if (list.starts_with(',')) list.remove_prefix(1);
    if (list.empty()) continue;
    try {
      const std::vector<std::string> some = expand_host_list(list);
      all.insert(all.end(), some.begin(), some.end());
    } catch (const Error& error) {
      fail_at(line.file, line.number, error.message());
    }
  }
  return all;
}

/// Beside blocks there are lines with their sizes and with what several of them make up, which join no hosts.
bool joins_hosts(const SlurmLine& line) {
  const std::string& key = line.values.front().key;
  return key != "blocksizes" && key != "aggregatedblock";
}

SwitchLine switch_of(const SlurmLine& line) {
  SwitchLine out{.file = line.file, .line = line.number, .name = {}, .nodes = {}, .switches = {}};
  bool is_printed = false;
  for (const auto& [key, value] : line.values) {
    if (key == "switchname" || key == "blockname") {
      out.name = value;
    } else if (key == "nodes") {
      out.nodes = names(value, line);
    } else if (key == "switches") {
      out.switches = names(value, line);
    } else if (key == "level") {
      is_printed = true;
    } else if (key != "linkspeed" && key != "blockindex" && key != "blocksize") {
      fail(out, fmt::format("'{}' is none of SwitchName, Nodes, Switches and LinkSpeed", shown(key)));
    }
  }
  // What scontrol prints of an upper switch also lists all hosts below it.
  if (is_printed && !out.switches.empty()) out.nodes.clear();
  if (out.name.empty()) fail(out, "there is no SwitchName");
  if (out.nodes.empty() == out.switches.empty()) fail(out, "one of Nodes and Switches is needed");
  return out;
}

/// Reads the lines and joins the switches to one tree.
class SlurmTree {
 public:
  SlurmTree(std::string_view text, std::string name) : name_(std::move(name)) {
    for (const SlurmLine& line : slurm_lines(text, name_)) {
      if (joins_hosts(line)) lines_.push_back(switch_of(line));
    }
    if (lines_.empty()) fail_whole("there is no SwitchName");
    number();
    join();
  }

  [[nodiscard]] const std::vector<TreeNode>& nodes() const { return nodes_; }
  [[nodiscard]] int host_count() const { return hosts_; }
  /// \throws Error{input} when the file doesn't have it
  [[nodiscard]] int host(const std::string& host) const {
    const auto found = numbers_.find("host " + host);
    if (found == numbers_.end()) fail_whole(fmt::format("host '{}' is not in it", host));
    return found->second;
  }

 private:
  [[noreturn]] void fail_whole(const std::string& what) const {
    throw Error(ErrorKind::input, fmt::format("{}: {}", name_, what));
  }

  void add_node(const std::string& kind, const std::string& name, const SwitchLine& line);
  void number();
  void adopt(int parent, const std::string& kind, const std::string& child, const SwitchLine& line);
  void join();
  void check_for_circles() const;

  std::string name_;
  std::vector<SwitchLine> lines_;
  std::map<std::string, int> numbers_;  // "host n0" or "switch s0" -> node
  std::vector<TreeNode> nodes_;
  int hosts_ = 0;
};

void SlurmTree::add_node(const std::string& kind, const std::string& name, const SwitchLine& line) {
  const auto [at, is_new] = numbers_.emplace(kind + " " + name, static_cast<int>(nodes_.size()));
  if (!is_new) fail(line, fmt::format("{} '{}' occurs a second time", kind, name));
  nodes_.push_back({name, -1});
}

void SlurmTree::number() {
  for (const SwitchLine& line : lines_) {
    for (const std::string& host : line.nodes) add_node("host", host, line);
  }
  hosts_ = static_cast<int>(nodes_.size());
  if (hosts_ > Fabric::max_hosts)
    fail_whole(fmt::format("{} hosts; up to {} are possible", hosts_, Fabric::max_hosts));
  for (const SwitchLine& line : lines_) add_node("switch", line.name, line);
}

void SlurmTree::adopt(int parent, const std::string& kind, const std::string& child, const SwitchLine& line) {
  const auto found = numbers_.find(kind + " " + child);
  if (found == numbers_.end()) fail(line, fmt::format("{} '{}' is named nowhere", kind, child));
  TreeNode& node = nodes_[found->second];
  if (node.parent >= 0)
    fail(line, fmt::format("{} '{}' is below two switches; a tree is needed", kind, child));
  node.parent = parent;
}

void SlurmTree::join() {
  for (const SwitchLine& line : lines_) {
    const int parent = numbers_.at("switch " + line.name);
    for (const std::string& host : line.nodes) adopt(parent, "host", host, line);
    for (const std::string& child : line.switches) adopt(parent, "switch", child, line);
  }
  check_for_circles();
  const auto is_root = [](const TreeNode& node) { return node.parent < 0; };
  if (std::count_if(nodes_.begin(), nodes_.end(), is_root) == 1) return;
  const int top = static_cast<int>(nodes_.size());
  for (TreeNode& node : nodes_) {
    if (is_root(node)) node.parent = top;
  }
  nodes_.push_back({"(top)", -1});
}

void SlurmTree::check_for_circles() const {
  constexpr int most_levels = 64;
  for (const TreeNode& node : nodes_) {
    int levels = 0;
    for (int up = node.parent; up >= 0; up = nodes_[up].parent) {
      if (++levels > most_levels)
        fail_whole(fmt::format("'{}' is below itself, or below too many switches", node.name));
    }
  }
}

/// By host.
std::vector<int> slots_of(const SlurmTopologyOptions& options, std::size_t hosts) {
  std::vector<int> slots = options.slots;
  if (slots.empty()) slots.assign(hosts, options.slots_per_host);
  if (slots.size() != hosts) {
    throw Error(ErrorKind::input,
                fmt::format("{} of slots for {}", counted(slots.size(), "number"), counted(hosts, "host")));
  }
  std::int64_t all = 0;
  for (const int own : slots) all += std::max(own, 0);
  if (all > Fabric::max_slots) {
    throw Error(ErrorKind::input,
                fmt::format("{} with {} in all; up to {} are possible", counted(hosts, "host"),
                            counted(all, "slot"), Fabric::max_slots));
  }
  return slots;
}

}  // namespace

Fabric fabric_from_slurm(std::string_view text, const std::string& name,
                         const SlurmTopologyOptions& options) {
  const SlurmTree tree(text, name);
  const auto network = std::make_shared<const TreeNetwork>(tree.host_count(), tree.nodes());
  FabricParts parts;
  if (options.nodes.empty()) {
    for (int host = 0; host < tree.host_count(); ++host) parts.endpoints.push_back(host);
  } else {
    std::set<int> seen;
    for (const std::string& host : expand_host_list(options.nodes)) {
      parts.endpoints.push_back(tree.host(host));
      if (!seen.insert(parts.endpoints.back()).second)
        throw Error(ErrorKind::input,
                    fmt::format("host '{}' occurs a second time in '{}'", host, shown(options.nodes)));
    }
  }
  const std::size_t hosts = parts.endpoints.size();
  const std::vector<int> slots = slots_of(options, hosts);
  for (std::size_t host = 0; host < hosts; ++host) {
    const int endpoint = parts.endpoints[host];
    const auto own = static_cast<std::size_t>(slots[host]);
    const std::vector<std::uint32_t> costs(options.costs.same_host == 1 ? 0 : own * own,
                                           options.costs.same_host);
    parts.hosts.push_back({tree.nodes()[endpoint].name, slots[host], costs});
    for (const int other : parts.endpoints) {
      const auto levels = static_cast<std::uint32_t>(network->levels_to_common_switch(endpoint, other));
      parts.host_costs.push_back(options.costs.per_level * levels);
    }
  }
  const auto [least, most] = std::ranges::minmax(slots);
  parts.description = fmt::format("{}, {} of {}{}", name, counted(hosts, "host"),
                                  least == most ? "" : fmt::format("{} to ", least), counted(most, "slot"));
  parts.network = network;
  return Fabric(std::move(parts));
}

}  // namespace selvage::topo
