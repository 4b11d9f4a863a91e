#include <selvage/error.hpp>
#include <selvage/topo/job_placement.hpp>
#include <selvage/topo/simulation.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

namespace selvage::topo {
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

TEST(JobPlacement, IsRankZerosOnEveryRank) {
  const int size = world_size();
  // Others know neither traffic nor fabric.
  Traffic traffic;
  Fabric fabric;
  if (world_rank() == 0) {
    traffic = Traffic(size, {{0, size - 1, {100, 1}, {}}});
    fabric = simulated_fabric({.hosts = (size + 1) / 2, .slots_per_host = 2});
  }
  const Placement placement = place_job(MPI_COMM_WORLD, {.traffic = traffic, .fabric = fabric, .grid = {}});
  ASSERT_EQ(placement.rank_count(), size);
  if (size > 2) {
    // The two that talk share a host.
    EXPECT_EQ(placement.slot_of(0) / 2, placement.slot_of(size - 1) / 2);
  }
  std::vector<int> of_zero = placement.slots();
  MPI_Bcast(of_zero.data(), size, MPI_INT, 0, MPI_COMM_WORLD);
  EXPECT_EQ(placement.slots(), of_zero);
}

TEST(JobPlacement, ThrowsRankZerosErrorOnEveryRank) {
  const Traffic traffic(5, {});
  const Fabric fabric = simulated_fabric({.hosts = 1, .slots_per_host = 4});
  try {
    (void)place_job(MPI_COMM_WORLD, {.traffic = traffic, .fabric = fabric, .grid = {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.message(), "5 ranks don't fit in 4 slots");
  }
}

TEST(JobPlacement, ReordersProcessesSoThatRankRIsInItsSlot) {
  const int size = world_size();
  std::vector<int> slots(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) slots[rank] = (rank + 1) % size;
  const Placement placement(slots, size);
  MPI_Comm comm = reordered(MPI_COMM_WORLD, placement);
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  EXPECT_EQ(placement.slot_of(rank), world_rank());
  MPI_Comm_free(&comm);
  EXPECT_THROW((void)reordered(MPI_COMM_WORLD, Placement::by_rank(size, size + 1)), Error);
}

}  // namespace
}  // namespace selvage::topo
