#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace selvage::topo {

inline constexpr const char* logical_hosts_variable = "SELVAGE_LOGICAL_HOSTS";

/// How to pretend that there are more hosts than there are.
struct LogicalHosts {
  int hosts = 0;
  std::vector<int> ranks;  ///< of each host, or one number for all

  [[nodiscard]] int ranks_of(int host) const {
    return ranks[ranks.size() == 1 ? 0 : static_cast<std::size_t>(host)];
  }
};

/// Reads "HxR", H pretended hosts of R ranks each, or "R+R+...", hosts of so many.
/// \throws Error{input} that names the variable and `text` when it is anything else
[[nodiscard]] LogicalHosts parse_logical_hosts(const std::string& text);

/// The logical host of each rank, numbered by lowest rank: the ranks of a physical host, in rank order, in
/// groups; each group that begins has the next of the sizes.
/// \param physical_host  of each rank
/// \param text  the value that gave `wanted`, for the message
/// \throws Error{input} when the ranks are more or fewer than wanted, or a physical host's don't fill its groups
[[nodiscard]] std::vector<int> split_into_logical_hosts(const std::vector<int>& physical_host,
                                                        const LogicalHosts& wanted, const std::string& text);

}  // namespace selvage::topo
