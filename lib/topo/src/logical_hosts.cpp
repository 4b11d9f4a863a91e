#include "logical_hosts.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <utility>

namespace selvage::topo {
namespace {

// A number from 1 on at the front of [begin, end); the rest, or nullptr when there is none.
const char* read_count(const char* begin, const char* end, int& count) {
  const auto [rest, error] = std::from_chars(begin, end, count);
  return error == std::errc{} && count > 0 ? rest : nullptr;
}

}  // namespace

LogicalHosts parse_logical_hosts(const std::string& text) {
  LogicalHosts wanted;
  const char* end = text.data() + text.size();
  const char* rest = read_count(text.data(), end, wanted.hosts);
  if (rest != nullptr && rest != end && *rest == 'x') {
    rest = read_count(rest + 1, end, wanted.ranks_per_host);
    if (rest == end) return wanted;
  }
  throw Error(ErrorKind::input, fmt::format("{}={} is not HxR, such as 2x4 for 2 hosts of 4 ranks each",
                                            logical_hosts_variable, text));
}

std::vector<int> split_into_logical_hosts(const std::vector<int>& physical_host, const LogicalHosts& wanted,
                                          const std::string& text) {
  const auto total = static_cast<long long>(wanted.hosts) * wanted.ranks_per_host;
  if (total != static_cast<long long>(physical_host.size())) {
    throw Error(ErrorKind::input, fmt::format("{}={} makes {} ranks, but the job has {}",
                                              logical_hosts_variable, text, total, physical_host.size()));
  }
  std::map<int, int> ranks_seen;
  std::map<std::pair<int, int>, int> numbers;  // physical host and group within it -> logical host
  std::vector<int> logical_host;
  for (const int physical : physical_host) {
    const int group = ranks_seen[physical]++ / wanted.ranks_per_host;
    const auto next = static_cast<int>(numbers.size());
    logical_host.push_back(numbers.try_emplace({physical, group}, next).first->second);
  }
  for (const auto& [physical, ranks] : ranks_seen) {
    if (ranks % wanted.ranks_per_host == 0) continue;
    throw Error(ErrorKind::input,
                fmt::format("{}={} does not fit: physical host {} has {} ranks, which is not a "
                            "multiple of {}",
                            logical_hosts_variable, text, physical, ranks, wanted.ranks_per_host));
  }
  return logical_host;
}

}  // namespace selvage::topo
