#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace selvage::topo {

/// One player of a ping-pong between two running kernels.
///
/// Each flag is written by the other player, with the number of the trip, after its stores into this player's buffer, which
/// it publishes; it is polled in its owner's memory.
struct PingPong {
  std::uint64_t* own_flag = nullptr;
  std::uint64_t* other_flag = nullptr;
  std::byte* other_buffer = nullptr;  ///< of 16 bytes' alignment
  std::size_t bytes = 0;
  int trips = 0;
  bool begins = false;
  int* gave_up = nullptr;  ///< set when the other player wasn't heard of for seconds
};

/// What a put of trip `trip` stores, byte by byte.
[[nodiscard]] constexpr std::uint8_t put_byte(int trip) {
  return static_cast<std::uint8_t>(trip % 251 + 1);
}
/// What stores by all multiprocessors leave in each 4 bytes.
inline constexpr std::uint32_t stored_word = 0x5e17a6e5;

/// Launches one player on the current device.
void launch_ping_pong(const PingPong& player, cudaStream_t stream);
/// Stores `bytes`, a multiple of 16, `repeats` times, by the current device's multiprocessors.
void launch_stores(void* target, std::size_t bytes, int repeats, int multiprocessors, cudaStream_t stream);

}  // namespace selvage::topo
