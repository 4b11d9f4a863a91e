#pragma once

#include <mpi.h>

namespace selvage::detail {

/// Ends a receive that nobody waits for any more, unless its message has begun to come, which MPI can't stop.
/// \return whether MPI is through with its memory; if not, the request remains, and the memory must
[[nodiscard]] bool cancel_receive(MPI_Request& receive) noexcept;

}  // namespace selvage::detail
