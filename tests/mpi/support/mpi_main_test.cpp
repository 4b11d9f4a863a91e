#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

TEST(MpiMain, StartsMpiAndKokkosBeforeTheFirstTest) {
  int sum = world_rank();
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sum, world_size() * (world_size() - 1) / 2);
  EXPECT_TRUE(Kokkos::is_initialized());
}

TEST(MpiMain, DISABLED_FailsOnTheLastRank) {
  EXPECT_NE(world_rank(), world_size() - 1) << "only this rank says so";
}

}  // namespace
