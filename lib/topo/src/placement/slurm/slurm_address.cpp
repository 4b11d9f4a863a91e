#include "machine/detect/records.hpp"
#include "text/text_file.hpp"

#include <fmt/format.h>

namespace selvage::topo {
namespace {

using Switches = Figure<std::vector<std::string>>;

bool is_same_host(std::string_view node, std::string_view host) {
  return node.substr(0, node.find('.')) == host.substr(0, host.find('.'));
}

}  // namespace

// The pattern "switch.switch.node" tells how many parts the address has; the last one, a node's name, may have dots too.
Switches switches_of_address(const std::optional<std::string>& address,
                             const std::optional<std::string>& pattern, const std::string& host) {
  if (!address || !pattern) return Switches::unknown("SLURM_TOPOLOGY_ADDR is not set");
  const std::vector<std::string_view> kinds = split(*pattern, '.');
  if (kinds.back() != "node")
    return Switches::unknown(fmt::format("SLURM_TOPOLOGY_ADDR_PATTERN is '{}', without a node", *pattern));
  if (kinds.size() == 1) return Switches::unknown("SLURM_TOPOLOGY_ADDR names no switches");
  std::vector<std::string> switches;
  std::string_view rest = *address;
  while (switches.size() + 1 < kinds.size()) {
    const auto dot = rest.find('.');
    if (dot == 0 || dot == std::string_view::npos)
      return Switches::unknown(
          fmt::format("SLURM_TOPOLOGY_ADDR is '{}', which is no {}", *address, *pattern));
    switches.emplace_back(rest.substr(0, dot));
    rest.remove_prefix(dot + 1);
  }
  if (!is_same_host(rest, host))
    return Switches::unknown(fmt::format("SLURM_TOPOLOGY_ADDR is that of {}, not of {}", rest, host));
  return Switches::known(std::move(switches), Source::environment);
}

}  // namespace selvage::topo
