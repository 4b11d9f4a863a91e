#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

// NVML's C interface, as far as Selvage calls it. FAKE_NVML names the pretended host:
//   (unset)   two GPUs of which little is told, the memory of the second can't be read
//   nvswitch  four GPUs, 18 links each to switches
//   direct    four GPUs, four links between 0 and 1 and between 2 and 3
//   pcie      four GPUs without links: 0 and 1 at one PCIe switch, 2 at their host bridge, 3 beyond
//   hidden    four GPUs, six links each, the ends not told, peers over NVLink
//   islands   the same, with peers over NVLink only between 0 and 1 and between 2 and 3
//   refused   four GPUs, and no permission to ask about links, peers, processors
//   locked    no permission at all
// With FAKE_NVML_OLD defined it lacks what old libraries lack.

namespace {

constexpr int success = 0;
constexpr int invalid_argument = 2;
constexpr int not_supported = 3;
constexpr int no_permission = 4;
constexpr int most_gpus = 4;

int starts = 0;
int gpus[most_gpus] = {0, 1, 2, 3};

int index_of(void* device) {
  return *static_cast<int*>(device);
}

bool is(const char* name) {
  const char* chosen = std::getenv("FAKE_NVML");
  return std::string_view(chosen != nullptr ? chosen : "") == name;
}

bool is_small() {
  const char* chosen = std::getenv("FAKE_NVML");
  return chosen == nullptr || *chosen == 0;
}

}  // namespace

extern "C" {

struct FakePciInfo {
  char bus_id_legacy[16];
  unsigned numbers[5];
  char bus_id[32];
};

struct FakeMemoryInfo {
  unsigned long long total_bytes;
  unsigned long long free_bytes;
  unsigned long long used_bytes;
};

int fakeNvmlStarts() {
  return starts;
}
int nvmlInit_v2() {
  ++starts;
  return is("locked") ? no_permission : success;
}
int nvmlShutdown() {
  return success;
}
const char* nvmlErrorString(int result) {
  switch (result) {
    case success:
      return "Success";
    case invalid_argument:
      return "Invalid Argument";
    case no_permission:
      return "Insufficient Permissions";
    default:
      return "Not Supported";
  }
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = is_small() ? 2 : most_gpus;
  return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &gpus[index];
  return success;
}

int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::snprintf(name, length, "Pretended GPU");
  return success;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-fake-%d", index_of(device));
  return success;
}

int nvmlDeviceGetPciInfo_v3(void* device, FakePciInfo* info) {
  std::snprintf(info->bus_id, sizeof info->bus_id, "0000FEED:%dB:00.0", index_of(device) + 1);
  return success;
}

int nvmlDeviceGetMemoryInfo(void* device, FakeMemoryInfo* info) {
  if (index_of(device) == 1) return not_supported;
  *info = {80ull << 30, 0, 0};
  return success;
}

#ifndef FAKE_NVML_OLD

struct FakeFieldValue {
  unsigned field;
  unsigned scope;
  long long times[2];
  int type;
  int result;
  unsigned long long value;
};

struct FakeFabricInfo {
  unsigned version;
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};

int nvmlDeviceGetCpuAffinity(void* device, unsigned words, unsigned long* set) {
  if (is("refused")) return no_permission;
  std::memset(set, 0, words * sizeof *set);
  if (!is_small()) set[index_of(device) < 2 ? 0 : 1] = 0xff;
  return success;
}

int nvmlDeviceGetNvLinkState(void*, unsigned link, int* is_active) {
  if (is("refused")) return no_permission;
  if (is_small() || is("pcie")) return not_supported;
  const unsigned links = is("nvswitch") ? 18 : is("direct") ? 5 : 6;
  if (link >= links) return invalid_argument;
  *is_active = is("direct") && link == 2 ? 0 : 1;
  return success;
}

int nvmlDeviceGetNvLinkVersion(void*, unsigned, unsigned* version) {
  if (is("hidden")) return not_supported;
  *version = 4;
  return success;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int* type) {
  if (is("hidden") || is("islands")) return not_supported;
  *type = is("nvswitch") ? 2 : 0;
  return success;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned link, FakePciInfo* info) {
  if (is("islands")) return not_supported;
  if (is("hidden")) {
    std::snprintf(info->bus_id, sizeof info->bus_id, "FFFFFFFF:FF:FF.F");
  } else if (is("nvswitch")) {
    std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", 0xc0 + link % 4);
  } else {
    std::snprintf(info->bus_id, sizeof info->bus_id, "0000FEED:%dB:00.0", (index_of(device) ^ 1) + 1);
  }
  return success;
}

int nvmlDeviceGetFieldValues(void*, int count, FakeFieldValue* values) {
  if (is("refused")) return no_permission;
  for (int i = 0; i < count; ++i) {
    // Old boards tell one speed for all links.
    const unsigned known = is("direct") ? 90 : 164;
    values[i].result = values[i].field == known ? success : not_supported;
    values[i].type = is("direct") ? 3 : 1;
    values[i].value = is("direct") ? 25781 : 26562;
  }
  return success;
}

int nvmlDeviceGetGpuFabricInfoV(void*, FakeFabricInfo* info) {
  if (info->version != (sizeof *info | (2U << 24))) return invalid_argument;
  if (is("refused")) return no_permission;
  info->state = is("nvswitch") ? 3 : is("direct") ? 2 : 0;
  info->status = success;
  info->clique = 7;
  for (unsigned char i = 0; i < sizeof info->cluster; ++i) info->cluster[i] = i;
  return success;
}

int nvmlDeviceGetTopologyCommonAncestor(void* a, void* b, int* level) {
  if (is("refused")) return no_permission;
  if (is_small()) return not_supported;
  const int far = index_of(a) > index_of(b) ? index_of(a) : index_of(b);
  *level = far == 1 ? 10 : far == 2 ? 30 : 50;
  return success;
}

int nvmlDeviceGetP2PStatus(void* a, void* b, int capability, int* status) {
  if (is("refused")) return no_permission;
  if (is_small()) return not_supported;
  constexpr int over_nvlink = 2;
  constexpr int atomics = 3;
  constexpr int status_not_supported = 5;
  const bool are_neighbours = index_of(a) / 2 == index_of(b) / 2;
  const bool are_linked = is("nvswitch") || is("hidden") || (!is("pcie") && are_neighbours);
  const bool is_linked_capability = capability == over_nvlink || capability == atomics;
  *status = are_linked || !is_linked_capability ? 0 : status_not_supported;
  return success;
}

#endif
}
