#include "machine/detect/records.hpp"
#include "machine_json.hpp"

#include <algorithm>
#include <set>

namespace selvage::topo {
namespace {

constexpr int format_version = 1;

Figure<std::string> mpi_library(const Machine& machine) {
  return machine.mpi_library().empty() ? Figure<std::string>::unknown("the machine was read from a file")
                                       : Figure<std::string>::known(machine.mpi_library(), Source::mpi);
}

Json physical_host_json(const PhysicalHost& host) {
  return {{"name", host.name},
          {"boot_id", json_of(host.boot_id)},
          {"ranks", host.ranks},
          {"processor", json_of(host.processor)},
          {"packages", json_of(host.packages)},
          {"cores", json_of(host.cores)},
          {"hardware_threads", json_of(host.cpus)},
          {"numa_nodes", json_of(host.numa_nodes)},
          {"l3_caches", json_of(host.l3_caches)},
          {"l3_bytes", json_of(host.l3_bytes)},
          {"memory_bytes", json_of(host.memory_bytes)},
          {"core_list", json_of(host.core_list)},
          {"usable_hardware_threads", json_of(host.usable_cpus)},
          {"gpus", json_of(host.gpus)},
          {"gpu_pairs", json_of(host.gpu_pairs)},
          {"switches", json_of(host.switches)}};
}

Json rank_json(const Machine& machine, int rank) {
  const RankPlace& place = machine.place(rank);
  return {{"rank", rank},
          {"host", place.host},
          {"physical_host", place.physical_host},
          {"rank_in_host", place.rank_in_host},
          {"hardware_threads", json_of(place.cpus)},
          {"cores", json_of(place.cores)},
          {"numa_nodes", json_of(place.numa_nodes)},
          {"cpu_quota_processors", json_of(place.cpu_quota)},
          {"gpu_pci_bus_id", json_of(place.gpu_pci_bus_id)},
          {"gpu_uuid", json_of(place.gpu_uuid)},
          {"ranks_exceed_cores", machine.ranks_exceed_cores(rank)}};
}

/// Cores have hardware threads of their own.
void check_cores(const JsonValue& from, const PhysicalHost& host) {
  std::set<int> seen;
  for (const Core& core : host.core_list.value_or({})) {
    for (const int cpu : core.cpus) {
      if (!seen.insert(cpu).second)
        from.at("core_list").fail(fmt::format("names hardware thread {} twice", cpu));
    }
  }
}

PhysicalHost physical_host_of(const JsonValue& from) {
  PhysicalHost host;
  read(from, "name", host.name);
  read(from, "boot_id", host.boot_id);
  read(from, "processor", host.processor);
  read(from, "packages", host.packages);
  read(from, "cores", host.cores);
  read(from, "hardware_threads", host.cpus);
  read(from, "numa_nodes", host.numa_nodes);
  read(from, "l3_caches", host.l3_caches);
  read(from, "l3_bytes", host.l3_bytes);
  read(from, "memory_bytes", host.memory_bytes);
  if (from.has("core_list"))
    read(from, "core_list", host.core_list);
  else
    host.core_list = Figure<std::vector<Core>>::unknown("the file is of an older selvage-topo");
  read(from, "usable_hardware_threads", host.usable_cpus);
  read(from, "gpus", host.gpus);
  read(from, "gpu_pairs", host.gpu_pairs);
  read(from, "switches", host.switches);
  check_cores(from, host);
  if (host.gpus.value_or({}).size() > max_gpus_per_host)
    from.at("gpus").fail(fmt::format("has more than {} GPUs", max_gpus_per_host));
  const auto same_gpus = [](const GpuPair& a, const GpuPair& b) {
    return a.first == b.first && a.second == b.second;
  };
  if (!std::ranges::equal(host.gpu_pairs, pairs_of(host.gpus.value_or({})), same_gpus))
    from.at("gpu_pairs").fail("is not a list of each two of the GPUs, in their order");
  return host;
}

RankPlace rank_of(const JsonValue& from, std::size_t number) {
  if (from.at("rank").natural() != number) from.at("rank").fail(fmt::format("is not {}", number));
  RankPlace place;
  read(from, "host", place.host);
  read(from, "physical_host", place.physical_host);
  read(from, "hardware_threads", place.cpus);
  read(from, "cores", place.cores);
  read(from, "numa_nodes", place.numa_nodes);
  read(from, "cpu_quota_processors", place.cpu_quota);
  read(from, "gpu_pci_bus_id", place.gpu_pci_bus_id);
  read(from, "gpu_uuid", place.gpu_uuid);
  return place;
}

}  // namespace

Machine machine_from_json(std::string_view text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, false);
  const JsonValue all(json, name);
  if (!all.has("selvage_machine_version")) all.fail("is not what selvage-topo show --json prints");
  if (all.at("selvage_machine_version").natural() != format_version)
    all.at("selvage_machine_version").fail(fmt::format("is not {}", format_version));
  MachineParts parts;
  Figure<std::string> library;
  read(all, "mpi_library", library);
  parts.mpi_library = library.value_or("");
  read(all, "logical_hosts_setting", parts.logical_hosts_setting);
  for (const JsonValue& host : all.at("physical_hosts").items())
    parts.physical_hosts.push_back(physical_host_of(host));
  for (const JsonValue& rank : all.at("ranks").items())
    parts.ranks.push_back(rank_of(rank, parts.ranks.size()));
  try {
    return Machine(std::move(parts));
  } catch (const Error& error) {
    all.fail(fmt::format("contradicts itself: {}", error.message()));
  }
}

std::string to_json(const Machine& machine) {
  Json hosts = Json::array();
  for (const LogicalHost& host : machine.hosts()) {
    hosts.push_back({{"physical_host", host.physical_host}, {"ranks", host.ranks}});
  }
  Json physical_hosts = Json::array();
  for (const PhysicalHost& host : machine.physical_hosts())
    physical_hosts.push_back(physical_host_json(host));
  Json ranks = Json::array();
  for (int rank = 0; rank < machine.rank_count(); ++rank) ranks.push_back(rank_json(machine, rank));
  const Json all = {{"selvage_machine_version", format_version},
                    {"mpi_library", json_of(mpi_library(machine))},
                    {"logical_hosts_setting", json_of(machine.logical_hosts_setting())},
                    {"rank_placement_source", to_string(Source::mpi)},
                    {"physical_hosts", std::move(physical_hosts)},
                    {"hosts", std::move(hosts)},
                    {"ranks", std::move(ranks)}};
  // Names come from drivers and files: a byte that is not UTF-8 must not end the program.
  return all.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace selvage::topo
