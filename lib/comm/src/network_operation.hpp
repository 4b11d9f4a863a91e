#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace selvage::detail {

/// One transfer that a proxy carries out for a kernel (LeBeane, ch. 6: the trigger entry's operation).
struct NetworkOperation {
  enum class Kind : std::uint32_t {
    put,      ///< local bytes into the target's window, then its arrival counter
    get,      ///< bytes of the target's window to local memory
    send,     ///< an MPI message with a tag of its own
    receive,  ///< likewise
  };
  static constexpr std::uint64_t no_arrival = std::numeric_limits<std::uint64_t>::max();

  Kind kind = Kind::put;
  int target = 0;  ///< rank
  std::byte* local = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t unit_bytes = 1;        ///< what lengths that kernels supply are counted in
  std::uint64_t offset = 0;            ///< put, get: within the target's window
  std::uint64_t arrival = no_arrival;  ///< put: where in that window the arrival counter lies, in bytes
  int window = -1;                     ///< put, get
  int message_tag = 0;                 ///< send, receive
};

}  // namespace selvage::detail
