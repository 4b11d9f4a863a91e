#include <selvage/error.hpp>
#include <selvage/topo/machine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace selvage::topo {
namespace {

void check_index(const char* what, int index, std::size_t count) {
  if (index >= 0 && static_cast<std::size_t>(index) < count) return;
  throw Error(ErrorKind::usage, fmt::format("{} {} of {}", what, index, count));
}

void collect_ranks_of_physical_hosts(std::vector<PhysicalHost>& hosts, const std::vector<RankPlace>& ranks) {
  for (auto& host : hosts) host.ranks.clear();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    check_index("physical host", ranks[rank].physical_host, hosts.size());
    hosts[ranks[rank].physical_host].ranks.push_back(static_cast<int>(rank));
  }
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (hosts[host].ranks.empty())
      throw Error(ErrorKind::usage, fmt::format("physical host {} has no rank", host));
  }
}

std::vector<LogicalHost> collect_logical_hosts(std::vector<RankPlace>& ranks) {
  std::vector<LogicalHost> hosts;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    RankPlace& place = ranks[rank];
    check_index("logical host", place.host, ranks.size());
    if (static_cast<std::size_t>(place.host) >= hosts.size()) hosts.resize(place.host + 1);
    LogicalHost& host = hosts[place.host];
    if (host.ranks.empty()) host.physical_host = place.physical_host;
    if (host.physical_host != place.physical_host) {
      throw Error(ErrorKind::usage, fmt::format("logical host {} spans physical hosts {} and {}", place.host,
                                                host.physical_host, place.physical_host));
    }
    place.rank_in_host = static_cast<int>(host.ranks.size());
    host.ranks.push_back(static_cast<int>(rank));
  }
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (hosts[host].ranks.empty())
      throw Error(ErrorKind::usage, fmt::format("logical host {} has no rank", host));
  }
  return hosts;
}

// The ranks that compete for one set of processors, and how many processors those are.
struct Share {
  int ranks = 0;
  std::set<int> cpus;
  bool cpus_known = true;
  double quota = std::numeric_limits<double>::infinity();

  void add(const RankPlace& place) {
    ++ranks;
    cpus_known = cpus_known && place.cpus.is_known();
    for (const int cpu : place.cpus.value_or({})) cpus.insert(cpu);
    quota = std::min(quota, place.cpu_quota.value_or(quota));
  }

  [[nodiscard]] bool exceeded() const {
    return !cpus_known || ranks > static_cast<int>(cpus.size()) || ranks > quota;
  }
};

// Launchers can present one running kernel as several hosts, whose ranks still compete for its processors.
std::pair<std::string, int> kernel_key(const PhysicalHost& host, int index) {
  if (host.boot_id.is_known()) return {host.boot_id.value() + ' ' + host.name, -1};
  return {std::string(), index};
}

std::vector<bool> find_exceeded(const std::vector<PhysicalHost>& hosts, const std::vector<RankPlace>& ranks) {
  std::map<std::pair<std::string, int>, Share> shares;
  for (const auto& place : ranks) {
    shares[kernel_key(hosts[place.physical_host], place.physical_host)].add(place);
  }
  std::vector<bool> exceeded;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    exceeded.push_back(shares.at(kernel_key(hosts[host], static_cast<int>(host))).exceeded());
  }
  return exceeded;
}

}  // namespace

Machine::Machine(MachineParts parts)
    : physical_hosts_(std::move(parts.physical_hosts)),
      ranks_(std::move(parts.ranks)),
      mpi_library_(std::move(parts.mpi_library)),
      logical_hosts_setting_(std::move(parts.logical_hosts_setting)) {
  collect_ranks_of_physical_hosts(physical_hosts_, ranks_);
  hosts_ = collect_logical_hosts(ranks_);
  exceeds_ = find_exceeded(physical_hosts_, ranks_);
}

const std::vector<int>& Machine::ranks_of_host(int host) const {
  check_index("logical host", host, hosts_.size());
  return hosts_[host].ranks;
}

bool Machine::same_physical_host(int a, int b) const {
  return place(a).physical_host == place(b).physical_host;
}

bool Machine::same_gpu(int a, int b) const {
  const RankPlace& first = place(a);
  const RankPlace& second = place(b);
  if (first.gpu_uuid.is_known() && second.gpu_uuid.is_known()) {
    return first.gpu_uuid.value() == second.gpu_uuid.value();
  }
  return first.gpu_pci_bus_id.is_known() && second.gpu_pci_bus_id.is_known() &&
         first.gpu_pci_bus_id.value() == second.gpu_pci_bus_id.value() &&
         first.physical_host == second.physical_host;
}

const Gpu* Machine::gpu_of(int rank) const {
  const RankPlace& own = place(rank);
  const auto& gpus = physical_hosts_[own.physical_host].gpus;
  if (!gpus.is_known() || !own.gpu_pci_bus_id.is_known()) return nullptr;
  const auto found = std::ranges::find(gpus.value(), own.gpu_pci_bus_id.value(), &Gpu::pci_bus_id);
  return found == gpus.value().end() ? nullptr : &*found;
}

const GpuPair* Machine::gpu_pair(int a, int b) const {
  const Gpu* first = gpu_of(a);
  const Gpu* second = gpu_of(b);
  if (first == nullptr || second == nullptr || !same_physical_host(a, b)) return nullptr;
  const auto& pairs = physical_hosts_[place(a).physical_host].gpu_pairs;
  const auto found = std::ranges::find_if(pairs, [&](const GpuPair& pair) {
    return (pair.first == first->pci_bus_id && pair.second == second->pci_bus_id) ||
           (pair.first == second->pci_bus_id && pair.second == first->pci_bus_id);
  });
  return found == pairs.end() ? nullptr : &*found;
}

GpuLevel Machine::gpu_level(int a, int b) const {
  if (same_gpu(a, b)) return GpuLevel::same_gpu;
  const GpuPair* pair = gpu_pair(a, b);
  return pair != nullptr ? pair->level : GpuLevel::unknown;
}

bool Machine::ranks_exceed_cores(int rank) const {
  return exceeds_[place(rank).physical_host];
}

const RankPlace& Machine::place(int rank) const {
  check_index("rank", rank, ranks_.size());
  return ranks_[rank];
}

Machine with_gpus_in_turn(const Machine& machine) {
  MachineParts parts{.physical_hosts = machine.physical_hosts(),
                     .ranks = machine.ranks(),
                     .mpi_library = machine.mpi_library(),
                     .logical_hosts_setting = machine.logical_hosts_setting()};
  for (const PhysicalHost& host : machine.physical_hosts()) {
    const std::vector<Gpu> gpus = host.gpus.value_or({});
    if (gpus.empty()) continue;
    for (std::size_t i = 0; i < host.ranks.size(); ++i) {
      RankPlace& place = parts.ranks[host.ranks[i]];
      if (place.gpu_pci_bus_id.is_known()) continue;
      const Gpu& gpu = gpus[i % gpus.size()];
      place.gpu_pci_bus_id = Figure<std::string>::known(gpu.pci_bus_id, Source::caller);
      place.gpu_uuid = Figure<std::string>::known(gpu.uuid, host.gpus.source());
    }
  }
  return Machine(std::move(parts));
}

}  // namespace selvage::topo
