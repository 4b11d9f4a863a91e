#pragma once

#include <selvage/comm/detail/memory_kind.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace selvage::detail {

/// One transfer that the proxy carries out for a kernel (LeBeane, chapter 6: the operation of a trigger entry).
struct NetworkOperation {
  enum class Kind : std::uint32_t {
    put,            ///< writes local bytes to the target's window, then its arrival counter
    get,            ///< reads bytes of the target's window into local memory
    send,           ///< a message: by MPI with a tag of its own, or by a copy to mapped memory
    receive,        ///< likewise
    receive_up_to,  ///< by MPI, of any length; at most `bytes` of it are kept
  };
  static constexpr std::uint64_t no_arrival = std::numeric_limits<std::uint64_t>::max();

  Kind kind = Kind::put;
  int target = 0;  ///< rank
  std::byte* local = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t unit_bytes = 1;        ///< unit of the lengths that kernels supply
  std::uint64_t offset = 0;            ///< put, get: within the target's window
  std::uint64_t arrival = no_arrival;  ///< put: where in that window the arrival counter lies, in bytes
  int window = -1;                     ///< put, get
  int message_tag = 0;                 ///< send, receive: for MPI
  bool is_synchronous = false;         ///< send by MPI: complete only when the other rank has asked for it

  // For messages to mapped memory. The receiver releases the sender's flag when the message may be written; the sender
  // releases the receiver's flag when it has been written.
  std::byte* remote = nullptr;
  std::uint64_t* own_flag =
      nullptr;  ///< in this rank's host memory, written by the other; null: MPI carries it
  std::uint64_t* peer_flag = nullptr;    ///< in the other's
  MemoryKind memory = MemoryKind::host;  ///< of `local` and `remote`
};

}  // namespace selvage::detail
