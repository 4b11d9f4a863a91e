#include "probe_kernels.hpp"

#include <cuda/atomic>

namespace selvage::topo {
namespace {

constexpr int put_threads = 128;
constexpr int store_threads = 512;
constexpr int polls_at_most = 1 << 23;  // some seconds

using SystemWord = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_system>;

/// By the first thread of a block. \return whether the flag came
__device__ bool await(std::uint64_t* flag, std::uint64_t value) {
  for (int poll = 0; poll < polls_at_most; ++poll) {
    if (SystemWord(*flag).load(cuda::memory_order_acquire) >= value) return true;
  }
  return false;
}

__device__ void store_all(std::byte* target, std::size_t bytes, std::uint8_t value) {
  const std::uint32_t word = value * 0x01010101U;
  const std::size_t vectors = bytes / sizeof(uint4);
  for (std::size_t i = threadIdx.x; i < vectors; i += blockDim.x)
    reinterpret_cast<uint4*>(target)[i] = make_uint4(word, word, word, word);
  for (std::size_t i = vectors * sizeof(uint4) + threadIdx.x; i < bytes; i += blockDim.x)
    target[i] = std::byte{value};
}

__global__ void ping_pong(PingPong player) {
  __shared__ bool heard;
  const int waits = player.begins ? 1 : 0;  // by which its own trips are ahead of what it waits for
  if (threadIdx.x == 0) heard = true;
  for (int trip = 1; trip <= player.trips + waits; ++trip) {
    if (threadIdx.x == 0 && trip > waits)
      heard = await(player.own_flag, static_cast<std::uint64_t>(trip - waits));
    __syncthreads();
    if (!heard) {
      if (threadIdx.x == 0) *player.gave_up = 1;
      return;
    }
    if (trip > player.trips) return;
    store_all(player.other_buffer, player.bytes, put_byte(trip));
    __syncthreads();
    if (threadIdx.x == 0)
      SystemWord(*player.other_flag).store(static_cast<std::uint64_t>(trip), cuda::memory_order_release);
  }
}

/// As volatile assembly, since a compiler may leave out what is stored again.
__device__ void store_vector(uint4* target, std::uint32_t word) {
  asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(target), "r"(word) : "memory");
}

__global__ void store_repeatedly(uint4* target, std::size_t vectors, int repeats) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::size_t i = first;
    for (; i + 3 * stride < vectors; i += 4 * stride) {
#pragma unroll
      for (int k = 0; k < 4; ++k) store_vector(target + i + k * stride, stored_word);
    }
    for (; i < vectors; i += stride) store_vector(target + i, stored_word);
  }
}

}  // namespace

void launch_ping_pong(const PingPong& player, cudaStream_t stream) {
  ping_pong<<<1, put_threads, 0, stream>>>(player);
}

void launch_stores(void* target, std::size_t bytes, int repeats, int multiprocessors, cudaStream_t stream) {
  const std::size_t vectors = bytes / sizeof(uint4);
  const std::size_t wanted = (vectors + store_threads - 1) / store_threads;
  const auto blocks = static_cast<unsigned>(wanted < static_cast<std::size_t>(multiprocessors)
                                                ? wanted
                                                : static_cast<std::size_t>(multiprocessors));
  store_repeatedly<<<blocks, store_threads, 0, stream>>>(static_cast<uint4*>(target), vectors, repeats);
}

}  // namespace selvage::topo
