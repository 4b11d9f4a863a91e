#include "nvml.hpp"

#include <selvage/topo/machine.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <climits>
#include <stdexcept>

namespace selvage::topo {
namespace {

// The few declarations needed of NVML's stable C interface; its header is often absent where its library is
// present.
using Result = int;
using Device = Nvml::Device;

constexpr Result success = 0;
constexpr Result not_supported = 3;
constexpr Result no_such_function = -1;  // our own

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

struct MemoryInfo {
  unsigned long long total_bytes;
  unsigned long long free_bytes;
  unsigned long long used_bytes;
};

struct FieldValue {
  unsigned field;
  unsigned scope;  // the number of a link
  long long timestamp;
  long long latency_us;
  int type;
  Result result;
  union {
    double real;
    unsigned natural;
    unsigned long long long_natural;
  } value;
};
static_assert(sizeof(FieldValue) == 40);

constexpr unsigned field_link_speed_of_all = 90;  // MB/s
constexpr unsigned field_link_speed = 164;        // MB/s
constexpr unsigned most_links = 32;               // the library's own limit is 18

// Drivers choose the type of a field: double, unsigned, unsigned long or unsigned long long, by number.
double number_in(const FieldValue& field) {
  constexpr int real = 0;
  constexpr int natural = 1;
  constexpr int last_long_natural = 3;
  if (field.type == real) return field.value.real;
  if (field.type == natural) return field.value.natural;
  return field.type <= last_long_natural ? static_cast<double>(field.value.long_natural) : 0;
}

struct FabricInfo {
  unsigned version;
  unsigned char cluster[16];
  Result status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};
static_assert(sizeof(FabricInfo) == 36);

constexpr unsigned fabric_info_version = sizeof(FabricInfo) | (2U << 24);
constexpr unsigned char fabric_completed = 3;

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};

std::string last_loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "the loader gives no reason";
}

/// A function that older libraries lack: asked all the same, it says so.
template <typename... Parameters>
class Optional {
 public:
  Result operator()(Parameters... parameters) const {
    return function_ != nullptr ? function_(parameters...) : no_such_function;
  }
  void load(void* library, const char* name) {
    function_ = reinterpret_cast<Result (*)(Parameters...)>(dlsym(library, name));
  }

 private:
  Result (*function_)(Parameters...) = nullptr;
};

LinkEnd link_end(int type) {
  switch (type) {
    case 0:
      return LinkEnd::gpu;
    case 1:
      return LinkEnd::cpu;
    case 2:
      return LinkEnd::nvswitch;
    default:
      return LinkEnd::hidden;
  }
}

std::string uuid_text(const unsigned char (&bytes)[16]) {
  std::string text;
  for (std::size_t i = 0; i < sizeof bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace

struct Nvml::Functions {
  explicit Functions(const char* path) : library(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!library) throw std::runtime_error(last_loader_error());
    load(init, "nvmlInit_v2");
    load(shutdown, "nvmlShutdown");
    load(error_string, "nvmlErrorString");
    load(device_count, "nvmlDeviceGetCount_v2");
    load(device_by_index, "nvmlDeviceGetHandleByIndex_v2");
    load(name, "nvmlDeviceGetName");
    load(uuid, "nvmlDeviceGetUUID");
    load(pci_info, "nvmlDeviceGetPciInfo_v3");
    load(memory_info, "nvmlDeviceGetMemoryInfo");
    cpu_affinity.load(library.get(), "nvmlDeviceGetCpuAffinity");
    link_state.load(library.get(), "nvmlDeviceGetNvLinkState");
    link_version.load(library.get(), "nvmlDeviceGetNvLinkVersion");
    link_end_type.load(library.get(), "nvmlDeviceGetNvLinkRemoteDeviceType");
    link_end_pci.load(library.get(), "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    field_values.load(library.get(), "nvmlDeviceGetFieldValues");
    fabric_info.load(library.get(), "nvmlDeviceGetGpuFabricInfoV");
    common_ancestor.load(library.get(), "nvmlDeviceGetTopologyCommonAncestor");
    peer_status.load(library.get(), "nvmlDeviceGetP2PStatus");
  }

  template <typename Function>
  void load(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(library.get(), symbol));
    if (function == nullptr) throw std::runtime_error(last_loader_error());
  }

  std::unique_ptr<void, CloseLibrary> library;
  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  const char* (*error_string)(Result) = nullptr;
  Result (*device_count)(unsigned*) = nullptr;
  Result (*device_by_index)(unsigned, Device*) = nullptr;
  Result (*name)(Device, char*, unsigned) = nullptr;
  Result (*uuid)(Device, char*, unsigned) = nullptr;
  Result (*pci_info)(Device, PciInfo*) = nullptr;
  Result (*memory_info)(Device, MemoryInfo*) = nullptr;
  Optional<Device, unsigned, unsigned long*> cpu_affinity;
  Optional<Device, unsigned, int*> link_state;
  Optional<Device, unsigned, unsigned*> link_version;
  Optional<Device, unsigned, int*> link_end_type;
  Optional<Device, unsigned, PciInfo*> link_end_pci;
  Optional<Device, int, FieldValue*> field_values;
  Optional<Device, FabricInfo*> fabric_info;
  Optional<Device, Device, int*> common_ancestor;
  Optional<Device, Device, int, int*> peer_status;
};

Nvml::Nvml(const char* library) : functions_(std::make_unique<Functions>(library)) {
  check(functions_->init(), "nvmlInit");
}

Nvml::~Nvml() {
  functions_->shutdown();
}

void Nvml::check(Result result, const char* call) const {
  if (result != success) throw std::runtime_error(fmt::format("{}: {}", call, why(result, call)));
}

std::string Nvml::why(Result result, const char* call) const {
  if (result == no_such_function) return fmt::format("this NVML has no {}", call);
  const char* text = functions_->error_string(result);
  return text != nullptr ? text : fmt::format("NVML's error {}", result);
}

std::vector<Device> Nvml::devices() const {
  unsigned count = 0;
  check(functions_->device_count(&count), "nvmlDeviceGetCount");
  std::vector<Device> all;
  for (unsigned index = 0; index < count; ++index) {
    check(functions_->device_by_index(index, &all.emplace_back()), "nvmlDeviceGetHandleByIndex");
  }
  return all;
}

Gpu Nvml::identity(Device device) const {
  std::array<char, 96> name{};
  std::array<char, 96> uuid{};
  PciInfo pci{};
  check(functions_->name(device, name.data(), name.size()), "nvmlDeviceGetName");
  check(functions_->uuid(device, uuid.data(), uuid.size()), "nvmlDeviceGetUUID");
  check(functions_->pci_info(device, &pci), "nvmlDeviceGetPciInfo");
  Gpu gpu;
  gpu.name = name.data();
  gpu.uuid = uuid.data();
  gpu.pci_bus_id = normalized_pci_bus_id(pci.bus_id);
  return gpu;
}

Figure<std::uint64_t> Nvml::memory_bytes(Device device) const {
  MemoryInfo memory{};
  const Result result = functions_->memory_info(device, &memory);
  if (result != success) return Figure<std::uint64_t>::unknown(why(result, "nvmlDeviceGetMemoryInfo"));
  return Figure<std::uint64_t>::known(memory.total_bytes, Source::nvml);
}

Figure<std::vector<int>> Nvml::near_cpus(Device device) const {
  constexpr int bits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, 128> set{};
  const Result result = functions_->cpu_affinity(device, static_cast<unsigned>(set.size()), set.data());
  if (result != success) return Figure<std::vector<int>>::unknown(why(result, "nvmlDeviceGetCpuAffinity"));
  std::vector<int> cpus;
  for (int cpu = 0; cpu < static_cast<int>(set.size()) * bits; ++cpu) {
    if ((set[static_cast<std::size_t>(cpu / bits)] >> (cpu % bits) & 1UL) != 0) cpus.push_back(cpu);
  }
  if (cpus.empty()) return Figure<std::vector<int>>::unknown("nvmlDeviceGetCpuAffinity names no processor");
  return Figure<std::vector<int>>::known(std::move(cpus), Source::nvml);
}

Figure<double> Nvml::link_gb_per_s(Device device, unsigned number) const {
  constexpr double mb_per_gb = 1000;
  Result refused = success;
  for (const unsigned field : {field_link_speed, field_link_speed_of_all}) {
    FieldValue value{};
    value.field = field;
    value.scope = field == field_link_speed ? number : 0;
    Result result = functions_->field_values(device, 1, &value);
    if (result == success) result = value.result;
    if (result == success && number_in(value) > 0)
      return Figure<double>::known(number_in(value) / mb_per_gb, Source::nvml);
    if (refused == success) refused = result;
  }
  return Figure<double>::unknown(refused != success ? why(refused, "nvmlDeviceGetFieldValues")
                                                    : "NVML gives no speed");
}

NvLink Nvml::link(Device device, unsigned number) const {
  NvLink link;
  int type = -1;
  if (functions_->link_end_type(device, number, &type) == success) link.end = link_end(type);
  PciInfo pci{};
  if (functions_->link_end_pci(device, number, &pci) == success)
    link.pci_bus_id = normalized_pci_bus_id(pci.bus_id);
  if (link.end == LinkEnd::gpu && link.pci_bus_id.empty()) link.end = LinkEnd::hidden;
  unsigned version = 0;
  const Result result = functions_->link_version(device, number, &version);
  link.version = result == success ? Figure<int>::known(static_cast<int>(version), Source::nvml)
                                   : Figure<int>::unknown(why(result, "nvmlDeviceGetNvLinkVersion"));
  link.gb_per_s = link_gb_per_s(device, number);
  return link;
}

Figure<std::vector<NvLink>> Nvml::links(Device device) const {
  std::vector<NvLink> links;
  for (unsigned number = 0; number < most_links; ++number) {
    int is_active = 0;
    const Result result = functions_->link_state(device, number, &is_active);
    // A device without NVLinks doesn't support the question, and numbers that no link has are invalid.
    if (number == 0 && result != success && result != not_supported)
      return Figure<std::vector<NvLink>>::unknown(why(result, "nvmlDeviceGetNvLinkState"));
    if (result == success && is_active != 0) links.push_back(link(device, number));
  }
  return Figure<std::vector<NvLink>>::known(std::move(links), Source::nvml);
}

Figure<GpuFabric> Nvml::fabric(Device device) const {
  FabricInfo info{};
  info.version = fabric_info_version;
  const Result result = functions_->fabric_info(device, &info);
  if (result != success) return Figure<GpuFabric>::unknown(why(result, "nvmlDeviceGetGpuFabricInfoV"));
  if (info.state != fabric_completed) {
    constexpr std::array states = {"it belongs to none", "it has not begun to join one",
                                   "it is still joining one"};
    return Figure<GpuFabric>::unknown(info.state < states.size() ? states[info.state]
                                                                 : "its state is a new one");
  }
  if (info.status != success)
    return Figure<GpuFabric>::unknown(why(info.status, "nvmlDeviceGetGpuFabricInfoV"));
  return Figure<GpuFabric>::known(
      {.cluster = uuid_text(info.cluster), .clique = static_cast<int>(info.clique)}, Source::nvml);
}

Figure<CommonAncestor> Nvml::common_ancestor(Device a, Device b) const {
  int level = -1;
  const Result result = functions_->common_ancestor(a, b, &level);
  if (result != success)
    return Figure<CommonAncestor>::unknown(why(result, "nvmlDeviceGetTopologyCommonAncestor"));
  // Their numbers are tens, so that there is room for more.
  constexpr std::array known = {CommonAncestor::board,         CommonAncestor::pcie_switch,
                                CommonAncestor::pcie_switches, CommonAncestor::host_bridge,
                                CommonAncestor::numa_node,     CommonAncestor::system};
  if (level < 0 || level % 10 != 0 || level / 10 >= static_cast<int>(known.size()))
    return Figure<CommonAncestor>::unknown(fmt::format("NVML's level {} is a new one", level));
  return Figure<CommonAncestor>::known(known[static_cast<std::size_t>(level / 10)], Source::nvml);
}

Figure<PeerStatus> Nvml::peer_status(Device a, Device b, Capability capability) const {
  int status = -1;
  const Result result = functions_->peer_status(a, b, static_cast<int>(capability), &status);
  if (result != success) return Figure<PeerStatus>::unknown(why(result, "nvmlDeviceGetP2PStatus"));
  const bool is_known = status >= 0 && status < static_cast<int>(PeerStatus::unknown);
  return Figure<PeerStatus>::known(is_known ? static_cast<PeerStatus>(status) : PeerStatus::unknown,
                                   Source::nvml);
}

}  // namespace selvage::topo
