#include "machine/detect/pretended_ranks.hpp"
#include "text/text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/machine_files.hpp>

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace selvage::topo {
namespace {

constexpr const char* not_in_xml = "the file doesn't tell";
constexpr int most_links = 1024;

/// One <cpu>, which is a NUMA node.
struct NumaNode {
  std::string host;
  Figure<int> number;
  Figure<CpuList> cpus;
};

/// One <gpu>, and the <pci> and <cpu> elements above it from the outermost on.
struct GpuElement {
  std::size_t numa_node = 0;
  std::vector<pugi::xml_node> above;
  Gpu gpu;
};

class NcclReader {
 public:
  NcclReader(std::string_view text, std::string name) : name_(std::move(name)) {
    pugi::xml_document& document = document_;
    const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size());
    if (!result) fail(fmt::format("is not XML: {} at byte {}", result.description(), result.offset));
    const pugi::xml_node system = document.child("system");
    if (!system) fail("has no <system>: it is not NCCL's topology");
    for (const pugi::xml_node cpu : system.children("cpu")) {
      nodes_.push_back(numa_node_of(cpu));
      collect(cpu, {cpu});
    }
    if (nodes_.empty()) fail("has no <cpu>");
    if (gpus_.empty()) fail("has no <gpu> in a <pci>");
  }

  [[nodiscard]] Machine machine() const {
    std::map<std::string, std::vector<const GpuElement*>> gpus_of;
    std::vector<std::string> order;
    for (const GpuElement& element : gpus_) {
      const std::string& host = nodes_[element.numa_node].host;
      if (gpus_of[host].empty()) order.push_back(host);
      if (gpus_of[host].size() == max_gpus_per_host)
        fail(fmt::format("has more than {} GPUs on a host", max_gpus_per_host));
      gpus_of[host].push_back(&element);
    }
    std::vector<HostOfFile> hosts;
    for (const std::string& host : order)
      hosts.push_back(host_of_file(fmt::format("host{}", hosts.size()), host, gpus_of[host]));
    return machine_with_pretended_ranks(hosts, name_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::input, fmt::format("{} {}", name_, what));
  }

  [[nodiscard]] NumaNode numa_node_of(pugi::xml_node cpu) const;
  [[nodiscard]] CpuList cpus_of(std::string_view affinity) const;
  void collect(pugi::xml_node parent, std::vector<pugi::xml_node> above);
  [[nodiscard]] Gpu gpu_of(pugi::xml_node pci, pugi::xml_node gpu) const;
  void add_links(pugi::xml_node link, std::vector<NvLink>& links) const;
  [[nodiscard]] static CommonAncestor common_ancestor(const GpuElement& a, const GpuElement& b);
  [[nodiscard]] HostInventory inventory_of(const std::string& host,
                                           const std::vector<const GpuElement*>& gpus) const;
  [[nodiscard]] HostOfFile host_of_file(const std::string& host_name, const std::string& host,
                                        const std::vector<const GpuElement*>& gpus) const {
    return {.name = host_name, .inventory = inventory_of(host, gpus)};
  }

  std::string name_;
  pugi::xml_document document_;
  std::vector<NumaNode> nodes_;
  std::vector<GpuElement> gpus_;
};

/// Words of 32 bits in hexadecimal digits, the most significant one first: "00000000,00ffffff".
CpuList NcclReader::cpus_of(std::string_view affinity) const {
  constexpr std::size_t most_characters = 8192;
  if (affinity.size() > most_characters) fail("has an affinity that is too long");
  CpuList cpus;
  int cpu = 0;
  for (auto digit = affinity.rbegin(); digit != affinity.rend(); ++digit) {
    if (*digit == ',') continue;
    unsigned bits = 0;
    const char text[] = {*digit};
    if (std::from_chars(text, text + 1, bits, 16).ec != std::errc())
      fail(fmt::format("has the affinity '{}', which is no mask of processors", shown(affinity)));
    for (int bit = 0; bit < 4; ++bit, ++cpu) {
      if ((bits >> bit & 1U) != 0) cpus.push_back(cpu);
    }
  }
  return cpus;
}

NumaNode NcclReader::numa_node_of(pugi::xml_node cpu) const {
  NumaNode node;
  node.host = cpu.attribute("host_hash").as_string();
  const int number = cpu.attribute("numaid").as_int(-1);
  node.number = number >= 0 ? Figure<int>::known(number, Source::file) : Figure<int>::unknown(not_in_xml);
  const CpuList cpus = cpus_of(cpu.attribute("affinity").as_string());
  node.cpus =
      cpus.empty() ? Figure<CpuList>::unknown(not_in_xml) : Figure<CpuList>::known(cpus, Source::file);
  return node;
}

void NcclReader::collect(pugi::xml_node parent, std::vector<pugi::xml_node> above) {
  constexpr std::size_t most_levels = 64;
  if (above.size() > most_levels) fail("has <pci> elements within too many others");
  for (const pugi::xml_node pci : parent.children("pci")) {
    if (const pugi::xml_node gpu = pci.child("gpu"))
      gpus_.push_back({.numa_node = nodes_.size() - 1, .above = above, .gpu = gpu_of(pci, gpu)});
    std::vector<pugi::xml_node> path = above;
    path.push_back(pci);
    collect(pci, std::move(path));
  }
}

Gpu NcclReader::gpu_of(pugi::xml_node pci, pugi::xml_node gpu) const {
  Gpu out;
  out.pci_bus_id = normalized_pci_bus_id(pci.attribute("busid").as_string());
  if (out.pci_bus_id.empty())
    fail(fmt::format("has a GPU whose busid '{}' is not a PCI bus id such as 0000:1b:00.0",
                     shown(pci.attribute("busid").as_string())));
  const int architecture = gpu.attribute("sm").as_int(0);
  out.name = architecture > 0 ? fmt::format("GPU of sm_{}", architecture) : "GPU";
  out.memory_bytes = Figure<std::uint64_t>::unknown(not_in_xml);
  out.numa_node = nodes_.back().number;
  out.near_cpus = nodes_.back().cpus;
  out.fabric = Figure<GpuFabric>::unknown(not_in_xml);
  std::vector<NvLink> links;
  for (const pugi::xml_node link : gpu.children("nvlink")) add_links(link, links);
  out.links = Figure<std::vector<NvLink>>::known(std::move(links), Source::file);
  return out;
}

/// The kind of a link's end is that of a PCI class: 0x03.... are GPUs, 0x068000 is an NVSwitch, 0x068001 a processor.
void NcclReader::add_links(pugi::xml_node element, std::vector<NvLink>& links) const {
  const std::string_view kind = element.attribute("tclass").as_string();
  const int count = element.attribute("count").as_int(0);
  if (count < 1 || count > most_links - static_cast<int>(links.size()))
    fail(fmt::format("has an <nvlink> with the count '{}'", shown(element.attribute("count").as_string())));
  NvLink link;
  link.pci_bus_id = normalized_pci_bus_id(element.attribute("target").as_string());
  if (kind.starts_with("0x03") && !link.pci_bus_id.empty()) link.end = LinkEnd::gpu;
  if (kind == "0x068000") link.end = LinkEnd::nvswitch;
  if (kind == "0x068001") link.end = LinkEnd::cpu;
  link.version = Figure<int>::unknown(not_in_xml);
  link.gb_per_s = Figure<double>::unknown(not_in_xml);
  links.insert(links.end(), static_cast<std::size_t>(count), link);
}

/// The <pci> elements above both are switches. Host bridges aren't listed, so a <cpu> is all that is known beyond them.
CommonAncestor NcclReader::common_ancestor(const GpuElement& a, const GpuElement& b) {
  const auto [end, other] = std::ranges::mismatch(a.above, b.above);
  const auto common = end - a.above.begin();
  if (common == 0) return CommonAncestor::system;
  return common == 1 ? CommonAncestor::numa_node : CommonAncestor::pcie_switch;
}

HostInventory NcclReader::inventory_of(const std::string& host,
                                       const std::vector<const GpuElement*>& gpus) const {
  HostInventory inventory = unknown_inventory(not_in_xml);
  std::set<int> cpus;
  int nodes = 0;
  for (const NumaNode& node : nodes_) {
    if (node.host != host) continue;
    ++nodes;
    for (const int cpu : node.cpus.value_or({})) {
      cpus.insert(cpu);
      inventory.threads.push_back({.cpu = cpu, .core = cpu, .numa_node = node.number.value_or(-1)});
    }
  }
  inventory.numa_nodes = Figure<int>::known(nodes, Source::file);
  if (!cpus.empty())
    inventory.allowed_cpus = Figure<CpuList>::known({cpus.begin(), cpus.end()}, Source::file);
  std::vector<Gpu> list;
  for (const GpuElement* element : gpus) list.push_back(element->gpu);
  inventory.gpu_pairs = pairs_of(list);
  auto pair = inventory.gpu_pairs.begin();
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    for (std::size_t b = a + 1; b < gpus.size(); ++b, ++pair) {
      pair->ancestor = Figure<CommonAncestor>::known(common_ancestor(*gpus[a], *gpus[b]), Source::file);
      pair->read = pair->write = pair->over_nvlink = pair->atomics = Figure<PeerStatus>::unknown(not_in_xml);
    }
  }
  find_levels(list, inventory.gpu_pairs);
  inventory.gpus = Figure<std::vector<Gpu>>::known(std::move(list), Source::file);
  return inventory;
}

}  // namespace

Machine machine_from_nccl_xml(std::string_view text, const std::string& name) {
  return NcclReader(text, name).machine();
}

}  // namespace selvage::topo
