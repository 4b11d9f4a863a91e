// Linked where the thread sanitizer looks on. What a thread of this process has done before a barrier comes before what another of its
// threads does with a message that a rank has sent after that barrier. The order goes by way of the other process, so the sanitizer
// sees it only where MPI's own locks happen to show it.
#include <mpi.h>
#include <sanitizer/tsan_interface.h>

namespace {
char passed_barriers;
}

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  __tsan_release(&passed_barriers);
  return PMPI_Barrier(comm);
}

int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  const int code = PMPI_Testsome(count, requests, completed, indices, statuses);
  if (*completed != MPI_UNDEFINED && *completed > 0) __tsan_acquire(&passed_barriers);
  return code;
}

}  // extern "C"
