#pragma once

#include <string>
#include <vector>

namespace selvage::topo {

inline constexpr const char* logical_hosts_variable = "SELVAGE_LOGICAL_HOSTS";

/// How to pretend that there are more hosts than there are.
struct LogicalHosts {
  int hosts = 0;
  int ranks_per_host = 0;
};

/// Reads "HxR", H pretended hosts of R ranks each.
/// \throws Error{input} that names the variable and `text` when it is anything else
[[nodiscard]] LogicalHosts parse_logical_hosts(const std::string& text);

/// The logical host of each rank, numbered by lowest rank: the ranks of a physical host, in rank order, in
/// groups.
/// \param physical_host  of each rank
/// \param text  the value that gave `wanted`, for the message
/// \throws Error{input} when the ranks are not H*R, or a physical host's ranks are not a multiple of R
[[nodiscard]] std::vector<int> split_into_logical_hosts(const std::vector<int>& physical_host,
                                                        const LogicalHosts& wanted, const std::string& text);

}  // namespace selvage::topo
