#include "device_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace selvage::profile {
namespace {

// CUDA's driver interface, as far as it is used here; never a dependency of the link.
using PointerQuery = int (*)(void* value, int attribute, std::uintptr_t pointer);
constexpr int attribute_memory_type = 2;
constexpr unsigned memory_type_device = 2;
constexpr int success = 0;

std::atomic<PointerQuery> known_query{nullptr};

/// Pages that were the host's a moment ago, as this thread found, so that the buffers of a loop aren't looked at again and
/// again: that takes as long as all the rest of what is done at a send. An entry serves a number of times only, because an
/// address can be given back and become a device's once the driver is there.
class HostPages {
 public:
  bool holds(const void* buffer) {
    Entry& entry = entry_of(buffer);
    if (entry.page != page_of(buffer) || entry.uses_left == 0) return false;
    --entry.uses_left;
    return true;
  }
  void add(const void* buffer) { entry_of(buffer) = {.page = page_of(buffer), .uses_left = most_uses_}; }

 private:
  struct Entry {
    std::uintptr_t page = 0;
    unsigned uses_left = 0;
  };
  static constexpr std::size_t entries_ = 16;
  static constexpr unsigned most_uses_ = 64;

  static std::uintptr_t page_of(const void* buffer) { return reinterpret_cast<std::uintptr_t>(buffer) >> 12; }
  Entry& entry_of(const void* buffer) { return pages_[page_of(buffer) % entries_]; }

  std::array<Entry, entries_> pages_{};
};

// In the block that the loader reserves at the start: the recorder is always loaded with the program.
thread_local HostPages host_pages __attribute__((tls_model("initial-exec")));

/// How many libraries this process has ever loaded: some twenty nanoseconds, most of them for a lock.
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
  const bool has_driver = known_query.load(std::memory_order_relaxed) != nullptr;
  if (!has_driver && host_pages.holds(buffer)) return Memory::host;
  const PointerQuery query = pointer_query();
  if (query == nullptr || buffer == nullptr) {
    host_pages.add(buffer);
    return Memory::host;
  }
  unsigned type = 0;
  const int status = query(&type, attribute_memory_type, reinterpret_cast<std::uintptr_t>(buffer));
  return status == success && type == memory_type_device ? Memory::device : Memory::host;
}

}  // namespace selvage::profile
