#include <selvage/topo/probe.hpp>

#include <algorithm>
#include <map>

namespace selvage::topo {
namespace {

/// The number of a rank's GPU among those that were probed; -1 where it isn't.
int probed_gpu_of(const GpuProbes& probes, const RankPlace& place, const std::string& host) {
  const auto is_it = [&](const ProbedGpu& gpu) {
    if (place.gpu_uuid.is_known()) return gpu.uuid == place.gpu_uuid.value();
    return place.gpu_pci_bus_id.is_known() && gpu.host == host &&
           gpu.pci_bus_id == place.gpu_pci_bus_id.value();
  };
  const auto found = std::ranges::find_if(probes.gpus, is_it);
  return found == probes.gpus.end() ? -1 : static_cast<int>(found - probes.gpus.begin());
}

}  // namespace

MeasuredLinks::MeasuredLinks(const Machine& machine, const Probes& probes) {
  std::vector<std::string> names;
  std::map<std::string, int> numbers;
  for (const std::string& host : probes.hosts) {
    if (numbers.try_emplace(host, static_cast<int>(names.size())).second) names.push_back(host);
  }
  for (const RankPlace& place : machine.ranks()) {
    const std::string& host = machine.physical_hosts()[static_cast<std::size_t>(place.physical_host)].name;
    const auto number = numbers.find(host);
    places_.push_back(
        {.physical_host = place.physical_host,
         .probed_host = number == numbers.end() ? -1 : number->second,
         .has_gpu = place.gpu_pci_bus_id.is_known(),
         .probed_gpu = probes.gpus.is_known() ? probed_gpu_of(probes.gpus.value(), place, host) : -1});
  }
  measure_hosts(probes, names);
  if (probes.gpus.is_known()) measure_gpus(probes.gpus.value());
}

void MeasuredLinks::measure_hosts(const Probes& probes, const std::vector<std::string>& names) {
  hosts_ = names.size();
  between_hosts_.resize(hosts_ * hosts_);
  std::vector<int> counts(hosts_ * hosts_);
  std::vector<std::size_t> host_of;
  for (const std::string& host : probes.hosts)
    host_of.push_back(static_cast<std::size_t>(std::ranges::find(names, host) - names.begin()));
  for (const ProbedPair& pair : probes.pairs) {
    const std::size_t cell =
        host_of[static_cast<std::size_t>(pair.from)] * hosts_ + host_of[static_cast<std::size_t>(pair.to)];
    MeasuredLink& mean = between_hosts_[cell] ? *between_hosts_[cell] : between_hosts_[cell].emplace();
    const double weight = 1.0 / ++counts[cell];
    mean.latency_us += (pair.latency_us.front() - mean.latency_us) * weight;
    mean.gb_per_s += (pair.gb_per_s.back() - mean.gb_per_s) * weight;
  }
}

void MeasuredLinks::measure_gpus(const GpuProbes& probes) {
  gpus_ = probes.gpus.size();
  between_gpus_.resize(gpus_ * gpus_);
  for (const ProbedGpuPair& pair : probes.pairs) {
    if (pair.put_us.empty()) continue;
    between_gpus_[static_cast<std::size_t>(pair.from) * gpus_ + static_cast<std::size_t>(pair.to)] =
        MeasuredLink{.latency_us = pair.put_us.front(),
                     .gb_per_s = std::max(pair.store_gb_per_s.back(), pair.copy_gb_per_s.back())};
  }
}

std::optional<MeasuredLink> MeasuredLinks::between(int from, int to) const {
  const Place& here = places_[static_cast<std::size_t>(from)];
  const Place& there = places_[static_cast<std::size_t>(to)];
  const auto entry = [](const Matrix& matrix, std::size_t width, int row,
                        int column) -> std::optional<MeasuredLink> {
    if (row < 0 || column < 0) return std::nullopt;
    return matrix[static_cast<std::size_t>(row) * width + static_cast<std::size_t>(column)];
  };
  // What MPI takes through host memory says nothing of two GPUs that reach each other.
  const bool by_gpus = here.physical_host == there.physical_host && here.has_gpu && there.has_gpu;
  return by_gpus ? entry(between_gpus_, gpus_, here.probed_gpu, there.probed_gpu)
                 : entry(between_hosts_, hosts_, here.probed_host, there.probed_host);
}

}  // namespace selvage::topo
