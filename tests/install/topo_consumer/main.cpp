// The machine under the ranks, by Selvage::topo alone.
#include <selvage/topo/machine.hpp>

#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const selvage::topo::Machine machine = selvage::topo::detect(MPI_COMM_WORLD);
  if (rank == 0) std::printf("ranks: %d\n", machine.rank_count());
  MPI_Finalize();
  return machine.rank_count() == size ? 0 : 1;
}
