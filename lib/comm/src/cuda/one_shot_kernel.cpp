#include "../allreduces/reduction_arithmetic.hpp"
#include "allreduce_kernels.hpp"
#include "allreduce_wait.hpp"
#include "check.hpp"

namespace selvage::detail {
namespace {

constexpr int packet_bytes = 8;

/// The elements of one packet, in registers.
template <class T>
struct alignas(packet_bytes) Packet {
  static constexpr int width = packet_bytes / static_cast<int>(sizeof(T));
  T element[width];
};

/// Of elements that needn't be aligned as packets are, and may be fewer at the end.
template <class T>
__device__ Packet<T> load_packet(const T* from, std::int64_t left) {
  Packet<T> packet{};
#pragma unroll
  for (int i = 0; i < Packet<T>::width; ++i) {
    if (i < left) packet.element[i] = from[i];
  }
  return packet;
}
template <class T>
__device__ void store_packet(T* to, const Packet<T>& packet, std::int64_t left) {
#pragma unroll
  for (int i = 0; i < Packet<T>::width; ++i) {
    if (i < left) to[i] = packet.element[i];
  }
}

template <class T>
__device__ void store_flagged(FlaggedPacket* to, const Packet<T>& packet, std::uint32_t epoch) {
  const auto words = *reinterpret_cast<const uint2*>(&packet);
  asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words.x), "r"(epoch),
               "r"(words.y), "r"(epoch)
               : "memory");
}
/// \return whether both halves are of this epoch
template <class T>
[[nodiscard]] __device__ bool load_flagged(const FlaggedPacket* from, std::uint32_t epoch,
                                           Packet<T>& packet) {
  uint4 line;
  asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(line.x), "=r"(line.y), "=r"(line.z), "=r"(line.w)
               : "l"(from)
               : "memory");
  *reinterpret_cast<uint2*>(&packet) = {line.x, line.z};
  return line.y == epoch && line.w == epoch;
}

/// Packets of one epoch lie by the rank that wrote them.
__device__ FlaggedPacket* packet_at(const AllreduceProgram& program, int owner, int writer,
                                    std::uint64_t epoch, std::int64_t index) {
  const std::int64_t parity = static_cast<std::int64_t>(epoch % 2);
  return program.packets[owner] + (parity * program.ranks + writer) * program.packet_count + index;
}

template <class T, ReduceOperation operation>
__device__ void reduce_packet(const AllreduceProgram& program, std::uint64_t epoch, std::int64_t index) {
  constexpr int width = Packet<T>::width;
  T* const elements = reinterpret_cast<T*>(program.elements[program.rank]) + index * width;
  const std::int64_t left = program.count - index * width;
  const Packet<T> own = load_packet(elements, left);
  const auto flag = static_cast<std::uint32_t>(epoch);
#pragma unroll
  for (int i = 1; i < most_allreduce_ranks; ++i) {
    // Each rank begins with another, so that links share the work.
    const int peer = (program.rank + i) % program.ranks;
    if (i < program.ranks) store_flagged(packet_at(program, peer, program.rank, epoch, index), own, flag);
  }
  Accumulator<T> combined[width];
  for (int rank = 0; rank < program.ranks; ++rank) {
    Packet<T> packet = own;
    if (rank != program.rank) {
      const FlaggedPacket* const from = packet_at(program, program.rank, rank, epoch, index);
      const bool is_here = poll(
          program, rank, epoch, [&] { return load_flagged(from, flag, packet); },
          [&] { return std::uint64_t{from->low_epoch}; });
      if (!is_here) return;
    }
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const auto next = to_accumulator(packet.element[k]);
      combined[k] = rank == 0 ? next : combine<operation>(combined[k], next);
    }
  }
  Packet<T> result;
#pragma unroll
  for (int k = 0; k < width; ++k)
    result.element[k] = from_accumulator<T>(conclude<operation>(combined[k], program.ranks));
  store_packet(elements, result, left);
}

/// Why a packet that is still read isn't overwritten: that of the same parity is stored two launches later, by a rank
/// that has had this one's packets of the launch between, which this one's stream began after it had read.
template <class T, ReduceOperation operation>
__global__ void __launch_bounds__(512) one_shot_kernel(const __grid_constant__ AllreduceProgram program) {
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  if (program.state->failed == 0) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
         i < program.packet_count; i += stride)
      reduce_packet<T, operation>(program, epoch, i);
  }
  __syncthreads();
  // The kernel's end publishes it to the next launch.
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = epoch;
}

}  // namespace

void load_one_shot(const AllreduceProgram& program) {
  cudaFuncAttributes unused{};
  with_arithmetic(program.type, program.operation, [&]<class T, ReduceOperation operation>() {
    check_cuda(cudaFuncGetAttributes(&unused, one_shot_kernel<T, operation>), "loading comm::one_shot");
  });
}

void launch_one_shot(const AllreduceProgram& program, cudaStream_t stream) {
  with_arithmetic(program.type, program.operation, [&]<class T, ReduceOperation operation>() {
    one_shot_kernel<T, operation><<<program.blocks, program.threads, 0, stream>>>(program);
  });
  check_cuda(cudaGetLastError(), "launching comm::one_shot");
}

}  // namespace selvage::detail
