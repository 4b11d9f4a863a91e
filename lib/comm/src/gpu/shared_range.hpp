#pragma once

#include <selvage/comm/detail/memory_kind.hpp>

#include <array>
#include <cstdint>

namespace selvage::detail {

/// The name of bytes in a shared segment of one rank, for other ranks of the host. Sent in messages.
struct SharedRange {
  MemoryKind memory = MemoryKind::host;
  std::int32_t process = 0;
  std::int32_t file = -1;             ///< of host memory
  std::uint64_t inode = 0;            ///< of that file: process numbers differ from container to container
  std::array<char, 64> ipc_handle{};  ///< of device memory
  std::uint64_t segment = 0;          ///< never reused within a process
  std::uint64_t segment_bytes = 0;
  std::uint64_t offset = 0;
};

}  // namespace selvage::detail
