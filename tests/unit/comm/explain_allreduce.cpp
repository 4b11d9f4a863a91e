// Prints what an allreduce of so many bytes of fp32 says about itself.
#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

void explain(std::size_t bytes) {
  const selvage::Context context(MPI_COMM_WORLD);
  const Kokkos::View<float*> view("gradients", bytes / sizeof(float));
  const selvage::Allreduce allreduce(Kokkos::DefaultExecutionSpace(), context, view);
  if (context.rank() == 0) std::fputs(allreduce.explain().c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    explain(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
  }
  MPI_Finalize();
  return 0;
}
