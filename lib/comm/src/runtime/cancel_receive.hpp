#pragma once

#include <mpi.h>

namespace selvage::detail {

/// Cancels a receive, unless its message has begun to arrive, which MPI can't stop.
/// \return whether MPI no longer uses its memory; if it does, the request remains valid, and the memory must not be freed
[[nodiscard]] bool cancel_receive(MPI_Request& receive) noexcept;

}  // namespace selvage::detail
