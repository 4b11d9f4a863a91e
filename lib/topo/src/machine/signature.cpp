#include <selvage/topo/machine.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

namespace selvage::topo {
namespace {

std::string gpu_summary(const PhysicalHost& host) {
  std::map<std::string, int> counts;
  if (host.gpus.is_known()) {
    for (const Gpu& gpu : host.gpus.value()) ++counts[gpu.name];
  }
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format(" + {} x {}", count, name);
  return text;
}

std::string kind_of(const PhysicalHost& host) {
  const std::string model = host.processor.value_or("unknown processor");
  const std::string packages =
      host.packages.is_known() ? fmt::format("{} x {}", host.packages.value(), model) : model;
  const std::string cores = host.cores.is_known()  ? fmt::format(" ({} cores)", host.cores.value())
                            : host.cpus.is_known() ? fmt::format(" ({} threads)", host.cpus.value())
                                                   : "";
  return packages + cores + gpu_summary(host);
}

}  // namespace

std::string hardware_signature(const Machine& machine) {
  std::set<std::string> kinds;
  for (const PhysicalHost& host : machine.physical_hosts()) kinds.insert(kind_of(host));
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace selvage::topo
