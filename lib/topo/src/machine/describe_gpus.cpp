#include "describe_lines.hpp"
#include "text/cpu_list.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace selvage::topo {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string links_text(const Figure<std::vector<NvLink>>& links) {
  if (!links.is_known()) return "unknown: " + links.reason();
  if (links.value().empty()) return "none";
  std::array<int, 4> ends{};
  double gb_per_s = 0;
  bool all_known = true;
  for (const NvLink& link : links.value()) {
    ++ends.at(static_cast<std::size_t>(link.end));
    gb_per_s += link.gb_per_s.value_or(0);
    all_known = all_known && link.gb_per_s.is_known();
  }
  constexpr std::array names = {"to ends that are hidden", "to GPUs", "to switches", "to the processor"};
  std::string text;
  for (std::size_t end = 0; end < ends.size(); ++end) {
    if (ends.at(end) != 0)
      fmt::format_to(Out(text), "{}{} {}", text.empty() ? "" : ", ", ends.at(end), names.at(end));
  }
  return text + (all_known ? fmt::format(", {:.4g} GB/s each way", gb_per_s) : ", speed unknown");
}

std::string gpu_text(const Gpu& gpu) {
  std::string text = fmt::format(
      "    {}  {}  {}, NUMA node {}, {}\n", gpu.pci_bus_id, gpu.name,
      gpu.memory_bytes.is_known() ? bytes_text(gpu.memory_bytes.value())
                                  : "memory unknown: " + gpu.memory_bytes.reason(),
      gpu.numa_node.is_known() ? fmt::to_string(gpu.numa_node.value()) : "unknown: " + gpu.numa_node.reason(),
      gpu.uuid.empty() ? "UUID unknown" : gpu.uuid);
  fmt::format_to(Out(text), "{:18}NVLinks: {}\n", "", links_text(gpu.links));
  fmt::format_to(Out(text), "{:18}near hardware threads: {}\n", "",
                 gpu.near_cpus.is_known() ? format_cpu_list(gpu.near_cpus.value())
                                          : "unknown: " + gpu.near_cpus.reason());
  if (gpu.fabric.is_known())
    fmt::format_to(Out(text), "{:18}NVLink domain: {}, clique {}\n", "", gpu.fabric.value().cluster,
                   gpu.fabric.value().clique);
  return text;
}

std::string cell(const GpuPair& pair) {
  switch (pair.level) {
    case GpuLevel::same_gpu:
      return "-";
    case GpuLevel::nvlink:
      return fmt::format("NVLink x{}", pair.nvlinks);
    case GpuLevel::nvswitch:
      return fmt::format("NVSwitch x{}", pair.nvlinks);
    case GpuLevel::pcie_switch:
      return "PCIe switch";
    case GpuLevel::root_complex:
      return "root complex";
    case GpuLevel::numa:
      return "NUMA node";
    case GpuLevel::system:
      return "system";
    case GpuLevel::unknown:
      return "?";
  }
  return "?";
}

std::string row(const std::vector<Gpu>& gpus, const std::vector<GpuPair>& pairs, std::size_t number) {
  const std::string& own = gpus[number].pci_bus_id;
  std::string text = fmt::format("    {:<14}", own);
  for (std::size_t other = 0; other < gpus.size(); ++other) {
    const auto pair = std::ranges::find_if(pairs, [&](const GpuPair& candidate) {
      return candidate.first == gpus[std::min(number, other)].pci_bus_id &&
             candidate.second == gpus[std::max(number, other)].pci_bus_id;
    });
    fmt::format_to(Out(text), "{:<14}", other == number ? "-" : pair == pairs.end() ? "?" : cell(*pair));
  }
  return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
}

/// What keeps a pair from being told, or two GPUs from using each other's memory, once per reason.
std::string notes(const std::vector<GpuPair>& pairs) {
  std::vector<std::string> seen;
  std::string text;
  const auto add = [&](const GpuPair& pair, const std::string& note) {
    if (std::ranges::find(seen, note) != seen.end()) return;
    seen.push_back(note);
    fmt::format_to(Out(text), "    {} (first between {} and {})\n", note, pair.first, pair.second);
  };
  for (const GpuPair& pair : pairs) {
    if (pair.level == GpuLevel::unknown) add(pair, "? unknown: " + pair.ancestor.reason());
    if (!pair.read.is_known()) add(pair, "peer access unknown: " + pair.read.reason());
    if (pair.read.value_or(PeerStatus::ok) != PeerStatus::ok)
      add(pair, fmt::format("no peer access: {}", to_string(pair.read.value())));
  }
  return text;
}

}  // namespace

std::string describe_gpus(const PhysicalHost& host) {
  std::string text = line("GPUs", host.gpus, [](const auto& list) { return fmt::to_string(list.size()); });
  if (!host.gpus.is_known()) return text;
  const std::vector<Gpu>& gpus = host.gpus.value();
  for (const Gpu& gpu : gpus) text += gpu_text(gpu);
  if (gpus.size() < 2) return text;
  std::string header;
  for (const Gpu& gpu : gpus) fmt::format_to(Out(header), "{:<14}", gpu.pci_bus_id);
  fmt::format_to(Out(text), "  {:<16}{}\n", "between GPUs",
                 header.substr(0, header.find_last_not_of(' ') + 1));
  for (std::size_t number = 0; number < gpus.size(); ++number) text += row(gpus, host.gpu_pairs, number);
  return text + notes(host.gpu_pairs);
}

}  // namespace selvage::topo
