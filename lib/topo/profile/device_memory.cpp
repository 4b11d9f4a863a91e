#include "device_memory.hpp"

#include <dlfcn.h>
#include <link.h>

namespace selvage::profile {
namespace {

// CUDA's driver interface, as far as it is used here; never a dependency of the link.
using PointerQuery = int (*)(void* value, int attribute, std::uintptr_t pointer);
constexpr int attribute_memory_type = 2;
constexpr unsigned memory_type_device = 2;
constexpr int success = 0;

std::atomic<PointerQuery> known_query{nullptr};

/// How many libraries this process has ever loaded: a few nanoseconds.
std::uint64_t libraries_loaded() {
  std::uint64_t loaded = 0;
  const auto first = [](dl_phdr_info* info, std::size_t, void* result) {
    *static_cast<std::uint64_t*>(result) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(first, &loaded);
  return loaded;
}

PointerQuery find_query() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return nullptr;
  return reinterpret_cast<PointerQuery>(dlsym(driver, "cuPointerGetAttribute"));
}

/// There is no device memory before the driver is there, so it is looked for whenever a library has come.
PointerQuery pointer_query() {
  static std::atomic<std::uint64_t> searched{0};
  PointerQuery query = known_query.load(std::memory_order_relaxed);
  if (query != nullptr) return query;
  const std::uint64_t loaded = libraries_loaded();
  if (loaded == searched.load(std::memory_order_relaxed)) return nullptr;
  query = find_query();
  known_query.store(query, std::memory_order_relaxed);
  searched.store(loaded, std::memory_order_relaxed);
  return query;
}

}  // namespace

Memory memory_of(const void* buffer) {
  const PointerQuery query = pointer_query();
  if (query == nullptr || buffer == nullptr) return Memory::host;
  unsigned type = 0;
  const int status = query(&type, attribute_memory_type, reinterpret_cast<std::uintptr_t>(buffer));
  return status == success && type == memory_type_device ? Memory::device : Memory::host;
}

}  // namespace selvage::profile
