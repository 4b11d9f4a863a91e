#include "probe_app.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// Rank 1 stops where STOP_IN says, as a rank may at any time. From the call that REFUSE_THREADS_AFTER names, no rank starts
// another thread, as where a limit is reached.
namespace {

std::atomic<bool> refuses_threads = false;

void refuse_threads_after(std::string_view call) {
  const char* const wanted = std::getenv("REFUSE_THREADS_AFTER");
  if (wanted != nullptr && call == wanted) refuses_threads = true;
}

void stop_in(std::string_view call) {
  const char* wanted = std::getenv("STOP_IN");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (wanted != nullptr && call == wanted && rank == 1) std::raise(SIGSTOP);
}

}  // namespace

extern "C" {

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  refuse_threads_after("MPI_Init_thread");
  if (std::getenv("SHOW_FILE_WRITES") != nullptr) {
    const char* const how = std::getenv("OMPI_MCA_fcoll_vulcan_async_io");
    std::printf("asynchronous writes: %s\n", how != nullptr ? how : "as MPI likes");
  }
  return result;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* result) {
  stop_in("MPI_Comm_dup");
  return PMPI_Comm_dup(comm, result);
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                            MPI_Win* window) {
  stop_in("MPI_Win_allocate_shared");
  return PMPI_Win_allocate_shared(size, unit, info, comm, base, window);
}

int MPI_Win_free(MPI_Win* window) {
  stop_in("MPI_Win_free");
  refuse_threads_after("MPI_Win_free");
  return PMPI_Win_free(window);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) {
  if (refuses_threads) return EAGAIN;
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, work, argument);
}

int MPI_Finalize() {
  stop_in("MPI_Finalize");
  return PMPI_Finalize();
}

}  // extern "C"

int main(int argc, char** argv) {
  using namespace selvage::app;
  return run_app(argc, argv, testing_support::probe_info(), testing_support::run_probe);
}
