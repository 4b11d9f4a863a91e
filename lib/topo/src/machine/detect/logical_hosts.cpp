#include "logical_hosts.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <numeric>

namespace selvage::topo {
namespace {

// A number from 1 on at the front of [begin, end); the rest, or nullptr when there is none.
const char* read_count(const char* begin, const char* end, int& count) {
  const auto [rest, error] = std::from_chars(begin, end, count);
  return error == std::errc{} && count > 0 ? rest : nullptr;
}

}  // namespace

LogicalHosts parse_logical_hosts(const std::string& text) {
  const char* const end = text.data() + text.size();
  int count = 0;
  const char* rest = read_count(text.data(), end, count);
  LogicalHosts wanted;
  if (rest != nullptr && rest != end && *rest == 'x') {
    wanted = {.hosts = count, .ranks = {0}};
    rest = read_count(rest + 1, end, wanted.ranks.front());
    if (rest == end) return wanted;
  } else {
    wanted.ranks.push_back(count);
    while (rest != nullptr && rest != end && *rest == '+') {
      rest = read_count(rest + 1, end, count);
      wanted.ranks.push_back(count);
    }
    wanted.hosts = static_cast<int>(wanted.ranks.size());
    if (rest == end && wanted.hosts > 1) return wanted;
  }
  throw Error(
      ErrorKind::input,
      fmt::format("{}={} is neither HxR, such as 2x4 for 2 hosts of 4 ranks each, nor a list of ranks, "
                  "such as 3+1",
                  logical_hosts_variable, text));
}

std::vector<int> split_into_logical_hosts(const std::vector<int>& physical_host, const LogicalHosts& wanted,
                                          const std::string& text) {
  const auto total = wanted.ranks.size() == 1
                         ? static_cast<long long>(wanted.hosts) * wanted.ranks.front()
                         : std::accumulate(wanted.ranks.begin(), wanted.ranks.end(), 0LL);
  if (total != static_cast<long long>(physical_host.size())) {
    throw Error(ErrorKind::input, fmt::format("{}={} makes {}, but the job has {}", logical_hosts_variable,
                                              text, counted(total, "rank"), physical_host.size()));
  }
  struct Group {
    int logical = 0;
    int free = 0;
    int ranks = 0;  ///< of the physical host so far
  };
  std::map<int, Group> last;  // of each physical host
  std::vector<int> logical_host;
  int next = 0;
  for (const int physical : physical_host) {
    Group& group = last[physical];
    // Groups that other physical hosts leave open can use up the sizes; that is found below.
    if (group.free == 0 && next < wanted.hosts) {
      group.logical = next++;
      group.free = wanted.ranks_of(group.logical);
    }
    --group.free;
    ++group.ranks;
    logical_host.push_back(group.logical);
  }
  for (const auto& [physical, group] : last) {
    if (group.free == 0) continue;
    throw Error(
        ErrorKind::input,
        fmt::format("{}={} does not fit: physical host {} has {}, which don't fill its pretended hosts",
                    logical_hosts_variable, text, physical, counted(group.ranks, "rank")));
  }
  return logical_host;
}

}  // namespace selvage::topo
