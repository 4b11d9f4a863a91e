#include "records.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <stdexcept>

namespace selvage::topo {
namespace {

// The few declarations needed of NVML's stable C interface; its header is often absent where its library is
// present.
using Result = int;  // 0 is success
using Device = void*;

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

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};

std::string last_loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "the loader gives no reason";
}

class Nvml {
 public:
  explicit Nvml(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error(last_loader_error());
    load(init_, "nvmlInit_v2");
    load(shutdown_, "nvmlShutdown");
    load(error_string_, "nvmlErrorString");
    load(device_count_, "nvmlDeviceGetCount_v2");
    load(device_by_index_, "nvmlDeviceGetHandleByIndex_v2");
    load(name_, "nvmlDeviceGetName");
    load(uuid_, "nvmlDeviceGetUUID");
    load(pci_info_, "nvmlDeviceGetPciInfo_v3");
    load(memory_info_, "nvmlDeviceGetMemoryInfo");
    check(init_(), "nvmlInit");
  }
  ~Nvml() { shutdown_(); }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] unsigned device_count() const {
    unsigned count = 0;
    check(device_count_(&count), "nvmlDeviceGetCount");
    return count;
  }

  [[nodiscard]] Gpu gpu(unsigned index) const {
    Device device = nullptr;
    check(device_by_index_(index, &device), "nvmlDeviceGetHandleByIndex");
    char name[96] = {};
    char uuid[96] = {};
    PciInfo pci = {};
    check(name_(device, name, sizeof name), "nvmlDeviceGetName");
    check(uuid_(device, uuid, sizeof uuid), "nvmlDeviceGetUUID");
    check(pci_info_(device, &pci), "nvmlDeviceGetPciInfo");
    Gpu gpu{.name = name,
            .uuid = uuid,
            .pci_bus_id = normalized_pci_bus_id(pci.bus_id),
            .memory_bytes = {},
            .numa_node = {}};
    MemoryInfo memory = {};
    const Result result = memory_info_(device, &memory);
    gpu.memory_bytes = result == 0 ? Figure<std::uint64_t>::known(memory.total_bytes, Source::nvml)
                                   : Figure<std::uint64_t>::unknown(error_string_(result));
    return gpu;
  }

 private:
  template <typename Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_.get(), name));
    if (function == nullptr) throw std::runtime_error(last_loader_error());
  }

  void check(Result result, const char* call) const {
    if (result != 0) throw std::runtime_error(fmt::format("{}: {}", call, error_string_(result)));
  }

  std::unique_ptr<void, CloseLibrary> library_;
  Result (*init_)() = nullptr;
  Result (*shutdown_)() = nullptr;
  const char* (*error_string_)(Result) = nullptr;
  Result (*device_count_)(unsigned*) = nullptr;
  Result (*device_by_index_)(unsigned, Device*) = nullptr;
  Result (*name_)(Device, char*, unsigned) = nullptr;
  Result (*uuid_)(Device, char*, unsigned) = nullptr;
  Result (*pci_info_)(Device, PciInfo*) = nullptr;
  Result (*memory_info_)(Device, MemoryInfo*) = nullptr;
};

Figure<int> numa_node_of_pci_device(const std::string& pci_bus_id) {
  const std::string path = fmt::format("/sys/bus/pci/devices/{}/numa_node", pci_bus_id);
  std::ifstream file(path);
  int node = -1;
  if (!(file >> node)) return Figure<int>::unknown("cannot read " + path);
  if (node < 0) return Figure<int>::unknown(path + " names no node");
  return Figure<int>::known(node, Source::kernel);
}

}  // namespace

Figure<std::vector<Gpu>> gpus_from_nvml(const char* library) {
  try {
    const Nvml nvml(library);
    std::vector<Gpu> gpus;
    for (unsigned index = 0; index < nvml.device_count(); ++index) {
      gpus.push_back(nvml.gpu(index));
      gpus.back().numa_node = numa_node_of_pci_device(gpus.back().pci_bus_id);
    }
    return Figure<std::vector<Gpu>>::known(std::move(gpus), Source::nvml);
  } catch (const std::exception& error) {
    return Figure<std::vector<Gpu>>::unknown(error.what());
  }
}

}  // namespace selvage::topo
