#include "cancel_receive.hpp"

namespace selvage::detail {

bool cancel_receive(MPI_Request& receive) noexcept {
  if (receive == MPI_REQUEST_NULL) return true;
  MPI_Cancel(&receive);
  int completed = 0;
  return MPI_Test(&receive, &completed, MPI_STATUS_IGNORE) == MPI_SUCCESS && completed != 0;
}

}  // namespace selvage::detail
