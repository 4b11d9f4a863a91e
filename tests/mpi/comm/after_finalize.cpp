// A Context that comes too late is an error, not MPI's abort.
#include <selvage/comm/context.hpp>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <iostream>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  MPI_Finalize();
  try {
    const selvage::Context context(MPI_COMM_WORLD);
  } catch (const selvage::Error& error) {
    std::cout << error.message() << std::endl;
    return 0;
  }
  return 1;
}
