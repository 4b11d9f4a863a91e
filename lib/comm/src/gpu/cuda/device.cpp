#include "gpu/device.hpp"

#include "check.hpp"

#include <Kokkos_Core.hpp>
#include <cuda.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace selvage::detail {

int default_device() {
  return Kokkos::is_initialized() ? Kokkos::Cuda().cuda_device() : no_device;
}

void use_device(int device) {
  if (device != no_device) check_cuda(cudaSetDevice(device), "cudaSetDevice");
}

void DeviceScope::enter(int device) {
  int before = no_device;
  check_cuda(cudaGetDevice(&before), "cudaGetDevice");
  if (before != device) check_cuda(cudaSetDevice(device), "cudaSetDevice");
  before_ = before;
}

void DeviceScope::leave() noexcept {
  int now = no_device;
  if (cudaGetDevice(&now) != cudaSuccess || now != before_) cudaSetDevice(before_);
}

std::optional<int> device_of_memory(const void* data) {
  cudaPointerAttributes attributes{};
  check_cuda(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes");
  if (attributes.type != cudaMemoryTypeDevice) return std::nullopt;
  return attributes.device;
}

std::string lazy_loading_refusal() {
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  const CUresult code = cuModuleGetLoadingMode(&mode);
  if (code != CUDA_SUCCESS || mode == CU_MODULE_EAGER_LOADING) return {};
  return "CUDA loads kernels at their first launch, which stops the proxy while another kernel waits for it: "
         "start "
         "the program with CUDA_MODULE_LOADING=EAGER";
}

std::string device_pci_bus_id(int device) {
  if (device == no_device) return {};
  char text[32] = {};
  return cudaDeviceGetPCIBusId(text, sizeof text, device) == cudaSuccess ? text : "";
}

bool is_shared_under_mps(int device) {
  int shared = 0;
  check_cuda(cudaDeviceGetAttribute(&shared, cudaDevAttrMpsEnabled, device), "cudaDeviceGetAttribute");
  return shared != 0;
}

std::string device_memory_refusal(int device) {
  if (device == no_device) {
    return Kokkos::is_initialized() ? "the Context was made for a host space"
                                    : "Kokkos is not initialised, so no GPU is chosen";
  }
  int unified = 0;
  check_cuda(cudaDeviceGetAttribute(&unified, cudaDevAttrUnifiedAddressing, device),
             "cudaDeviceGetAttribute");
  return unified != 0 ? "" : "the GPU has no unified addressing";
}

std::optional<SharedRange> name_device_memory(const void* data, std::size_t bytes) {
  const auto address = reinterpret_cast<CUdeviceptr>(data);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  if (cuMemGetAddressRange(&base, &size, address) != CUDA_SUCCESS || address + bytes > base + size)
    return std::nullopt;
  cudaIpcMemHandle_t handle;
  static_assert(sizeof handle == sizeof SharedRange::ipc_handle);
  if (cudaIpcGetMemHandle(&handle, reinterpret_cast<void*>(base)) != cudaSuccess) {
    cudaGetLastError();  // only asks: the refusal must not show up as the next call's error
    return std::nullopt;
  }
  unsigned long long id = 0;
  if (cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, base) != CUDA_SUCCESS) return std::nullopt;
  SharedRange range{.memory = MemoryKind::device,
                    .process = static_cast<std::int32_t>(getpid()),
                    .file = -1,
                    .inode = 0,
                    .ipc_handle = {},
                    .segment = id,
                    .segment_bytes = size,
                    .offset = address - base};
  std::memcpy(range.ipc_handle.data(), &handle, sizeof handle);
  return range;
}

std::pair<std::byte*, std::shared_ptr<void>> open_device_memory(const std::array<char, 64>& handle) {
  cudaIpcMemHandle_t native;
  std::memcpy(&native, handle.data(), sizeof native);
  void* base = nullptr;
  int device = no_device;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  const cudaError_t code = cudaIpcOpenMemHandle(&base, native, cudaIpcMemLazyEnablePeerAccess);
  check_cuda(code, code == cudaErrorAlreadyMapped
                       ? "cudaIpcOpenMemHandle (another library of this process holds a mapping there: MPI "
                         "through UCX, of memory freed since, unless UCX_CUDA_IPC_CACHE=n)"
                       : "cudaIpcOpenMemHandle");
  return {static_cast<std::byte*>(base), std::shared_ptr<void>(base, [device](void* mapped) {
            const DeviceScope scope(device);
            cudaIpcCloseMemHandle(mapped);
          })};
}

namespace {

class MpiPool {
 public:
  /// \param device  the current one
  void* take(int device, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::vector<void*>& free_blocks = free_[{device, bytes}];
    if (free_blocks.empty()) {
      void* block = nullptr;
      check_cuda(cudaMalloc(&block, bytes), "cudaMalloc");
      return block;
    }
    void* block = free_blocks.back();
    free_blocks.pop_back();
    return block;
  }
  void give_back(void* block, int device, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    free_[{device, bytes}].push_back(block);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, std::size_t>, std::vector<void*>> free_;  ///< by device and size
};

}  // namespace

Buffer allocate_for_mpi(std::size_t bytes) {
  static auto* pool = new MpiPool;  // outlives every static that may hold a block
  constexpr std::size_t least_bytes = 4096;
  const std::size_t rounded = std::bit_ceil(std::max(bytes, least_bytes));
  int device = no_device;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  void* block = pool->take(device, rounded);
  const auto give_back = [device, rounded](void* returned) { pool->give_back(returned, device, rounded); };
  return {static_cast<std::byte*>(block), std::shared_ptr<void>(block, give_back)};
}

Buffer allocate_page_locked(std::size_t bytes) {
  void* data = nullptr;
  check_cuda(cudaHostAlloc(&data, bytes, cudaHostAllocDefault), "cudaHostAlloc");
  return {static_cast<std::byte*>(data),
          std::shared_ptr<void>(data, [](void* block) { cudaFreeHost(block); })};
}

std::shared_ptr<void> page_lock(std::byte* data, std::size_t bytes) {
  check_cuda(cudaHostRegister(data, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped),
             "cudaHostRegister");
  return {data, [](void* block) { cudaHostUnregister(block); }};
}

Buffer allocate_on_device(std::size_t bytes) {
  void* data = nullptr;
  int device = no_device;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  const cudaError_t code = cudaMalloc(&data, std::max<std::size_t>(bytes, 1));
  check_cuda(code, fmt::format("cudaMalloc of {} bytes", bytes));
  return {static_cast<std::byte*>(data), std::shared_ptr<void>(data, [device](void* block) {
            const DeviceScope freeing(device);
            cudaFree(block);
          })};
}

Buffer allocate_device_words(int count) {
  const std::size_t bytes = count * sizeof(std::uint64_t);
  Buffer buffer = allocate_on_device(bytes);
  check_cuda(cudaMemset(buffer.data, 0, bytes), "cudaMemset");
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return buffer;
}

void copy_device_bytes(void* target, const void* source, std::size_t bytes) {
  check_cuda(cudaMemcpy(target, source, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

std::string probe_device_word(std::byte* word) {
  constexpr std::uint64_t stored = 0x5e17a9e5e17a9e5;
  std::uint64_t read = 0;
  check_cuda(cudaMemcpy(word, &stored, sizeof stored, cudaMemcpyDefault), "cudaMemcpy to a peer");
  check_cuda(cudaMemcpy(&read, word, sizeof read, cudaMemcpyDefault), "cudaMemcpy from a peer");
  return read == stored ? "" : "a word stored into a peer's GPU memory reads back as another";
}

}  // namespace selvage::detail
