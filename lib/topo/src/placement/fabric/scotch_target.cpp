#include "text/text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/fabric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

namespace selvage::topo {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

/// The words of a target file, one after the other.
class Words {
 public:
  Words(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::input, fmt::format("{}:{}: {}", name_, line_, what));
  }

  [[nodiscard]] std::string_view word(const char* what) {
    skip_blanks();
    if (at_ == text_.size()) fail(fmt::format("the file ends before {}", what));
    const std::size_t end = std::min(text_.find_first_of(white_space, at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

  [[nodiscard]] int number(const char* what, int least, int most) {
    const std::string_view text = word(what);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
      fail(fmt::format("{} '{}' is not a whole number from {} to {}", what, shown(text), least, most));
    }
    return value;
  }

  [[nodiscard]] std::size_t characters_left() const { return text_.size() - at_; }

  void end() {
    skip_blanks();
    if (at_ != text_.size()) fail("there is more in the file than the target needs");
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && white_space.find(text_[at_]) != std::string_view::npos) {
      if (text_[at_++] == '\n') ++line_;
    }
  }

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

constexpr int largest_cost = static_cast<int>(Fabric::max_cost);

struct Level {
  int size = 1;
  int cost = 0;  ///< of a way that turns round at this level
};

/// Costs of a tree-leaf target as Scotch counts them: the links of all levels below the first that differs.
std::vector<Level> read_levels(Words& words) {
  constexpr int most_levels = 32;
  std::vector<Level> levels(static_cast<std::size_t>(words.number("the number of levels", 1, most_levels)));
  std::int64_t targets = 1;
  for (Level& level : levels) {
    level.size = words.number("the size of a level", 1, Fabric::max_slots);
    level.cost = words.number("the cost of a level", 1, largest_cost);
    targets *= level.size;
    if (targets > Fabric::max_slots) words.fail(fmt::format("more than {} targets", Fabric::max_slots));
  }
  for (std::size_t i = levels.size() - 1; i > 0; --i) levels[i - 1].cost += levels[i].cost;
  if (levels.front().cost > largest_cost)
    words.fail(fmt::format("the costs sum up to {}", levels.front().cost));
  return levels;
}

/// The cost between two leaves below the given levels.
std::uint32_t leaf_cost(const std::vector<Level>& levels, int a, int b) {
  std::uint32_t cost = 0;
  for (std::size_t i = levels.size(); i-- > 0 && a != b;) {
    cost = static_cast<std::uint32_t>(levels[i].cost);
    a /= levels[i].size;
    b /= levels[i].size;
  }
  return cost;
}

FabricParts tleaf_parts(Words& words) {
  std::vector<Level> levels = read_levels(words);
  const Level host = levels.back();
  levels.pop_back();
  int hosts = 1;
  for (const Level& level : levels) hosts *= level.size;
  if (hosts > Fabric::max_hosts)
    words.fail(fmt::format("{} hosts; up to {} are possible", hosts, Fabric::max_hosts));
  if (host.size > Fabric::max_hosts) words.fail(fmt::format("a host of {} slots", host.size));
  FabricParts parts;
  const auto slots = static_cast<std::size_t>(host.size);
  for (int a = 0; a < hosts; ++a) {
    parts.hosts.push_back({fmt::format("host{}", a), host.size,
                           std::vector<std::uint32_t>(slots * slots, static_cast<std::uint32_t>(host.cost))});
    for (int b = 0; b < hosts; ++b) parts.host_costs.push_back(leaf_cost(levels, a, b));
  }
  return parts;
}

FabricParts cmplt_parts(Words& words) {
  const int slots = words.number("the number of targets", 1, Fabric::max_hosts);
  return {.description = {},
          .hosts = {{"host0", slots, {}}},
          .host_costs = {0},
          .slot_hosts = {},
          .network = {},
          .endpoints = {}};
}

int hops(int a, int b, const std::vector<int>& sizes, bool is_torus) {
  int hops = 0;
  for (const int size : sizes) {
    const int apart = std::abs(a % size - b % size);
    hops += is_torus ? std::min(apart, size - apart) : apart;
    a /= size;
    b /= size;
  }
  return hops;
}

/// Targets on a grid, the first dimension the fastest; a hop costs 1.
FabricParts grid_parts(Words& words, const std::vector<int>& sizes, bool is_torus) {
  std::int64_t targets = 1;
  for (const int size : sizes) {
    targets *= size;
    if (targets > Fabric::max_hosts) words.fail(fmt::format("more than {} targets", Fabric::max_hosts));
  }
  FabricParts parts;
  for (int a = 0; a < static_cast<int>(targets); ++a) {
    parts.hosts.push_back({fmt::format("target{}", a), 1, {}});
    for (int b = 0; b < static_cast<int>(targets); ++b)
      parts.host_costs.push_back(static_cast<std::uint32_t>(hops(a, b, sizes, is_torus)));
  }
  return parts;
}

std::vector<int> read_sizes(Words& words, std::size_t dimensions) {
  std::vector<int> sizes;
  while (sizes.size() < dimensions)
    sizes.push_back(words.number("the size of a dimension", 1, Fabric::max_hosts));
  return sizes;
}

FabricParts hcub_parts(Words& words) {
  constexpr int most_dimensions = 13;
  const int dimensions = words.number("the number of dimensions", 1, most_dimensions);
  return grid_parts(words, std::vector<int>(static_cast<std::size_t>(dimensions), 2), false);
}

FabricParts deco_parts(Words& words) {
  if (words.number("the kind of decomposition", 0, 2) != 0) {
    words.fail("only 'deco 0' can be read, which lists all distances");
  }
  const int targets = words.number("the number of targets", 1, Fabric::max_hosts);
  const int largest_domain = words.number("the largest domain", 1, 1 << 30);
  FabricParts parts;
  std::set<int> labels;
  for (int target = 0; target < targets; ++target) {
    const int label = words.number("a target's label", 0, 1 << 30);
    if (!labels.insert(label).second) words.fail(fmt::format("target {} occurs a second time", label));
    (void)words.number("a target's weight", 1, 1 << 30);
    (void)words.number("a target's domain", 1, largest_domain);
    parts.hosts.push_back({fmt::format("target{}", label), 1, {}});
  }
  const auto size = static_cast<std::size_t>(targets);
  if (size * (size - 1) / 2 > words.characters_left()) words.fail("the file is too short for its distances");
  parts.host_costs.assign(size * size, 0);
  for (std::size_t a = 1; a < size; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto cost = static_cast<std::uint32_t>(words.number("a distance", 1, largest_cost));
      parts.host_costs[a * size + b] = parts.host_costs[b * size + a] = cost;
    }
  }
  return parts;
}

}  // namespace

Fabric fabric_from_scotch_target(std::string_view text, const std::string& name) {
  Words words(text, name);
  const std::string_view kind = words.word("the kind of target");
  FabricParts parts;
  if (kind == "tleaf") {
    parts = tleaf_parts(words);
  } else if (kind == "cmplt") {
    parts = cmplt_parts(words);
  } else if (kind == "deco") {
    parts = deco_parts(words);
  } else if (kind == "mesh2D" || kind == "mesh3D") {
    parts = grid_parts(words, read_sizes(words, kind == "mesh2D" ? 2 : 3), false);
  } else if (kind == "torus2D" || kind == "torus3D") {
    parts = grid_parts(words, read_sizes(words, kind == "torus2D" ? 2 : 3), true);
  } else if (kind == "hcub") {
    parts = hcub_parts(words);
  } else {
    words.fail(fmt::format("'{}' is none of tleaf, cmplt, mesh2D, mesh3D, torus2D, torus3D, hcub and deco",
                           shown(kind)));
  }
  words.end();
  parts.description = fmt::format("{}, {}", name, kind);
  return Fabric(std::move(parts));
}

}  // namespace selvage::topo
