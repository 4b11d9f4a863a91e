#include <cstddef>
#include <cstdio>

// NVML's C interface, as far as Selvage calls it: two GPUs, the memory of the second can't be read.

namespace {

constexpr int success = 0;
constexpr int not_supported = 3;
constexpr unsigned gpu_count = 2;

int gpus[gpu_count] = {0, 1};

int index_of(void* device) {
  return *static_cast<int*>(device);
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

int nvmlInit_v2() {
  return success;
}
int nvmlShutdown() {
  return success;
}
const char* nvmlErrorString(int result) {
  return result == success ? "Success" : "Not Supported";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpu_count;
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
}
