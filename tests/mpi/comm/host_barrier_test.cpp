#include "collectives/algorithms/host_barrier.hpp"

#include "runtime/context_state.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/signal.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace selvage::detail {
namespace {

/// Ranks come after random delays, and none leaves before the last one of its group has come: by the one clock of a host.
TEST(HostBarrier, KeepsEachUntilAllHaveCome) {
  const Context context(MPI_COMM_WORLD);
  constexpr int rounds = 200;
  HostBarrier meeting(*context.state(), context.machine().ranks_of_host(0), context.rank(),
                      context.state()->take_tags(1));
  std::mt19937 random(static_cast<unsigned>(context.rank()));
  std::vector<std::uint64_t> arrivals;
  std::vector<std::uint64_t> departures;
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    arrivals.push_back(clock_ns());
    while (!meeting.meet()) std::this_thread::yield();
    departures.push_back(clock_ns());
  }
  MPI_Allreduce(MPI_IN_PLACE, arrivals.data(), rounds, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, departures.data(), rounds, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  for (int round = 0; round < rounds; ++round)
    EXPECT_LE(arrivals[round], departures[round]) << "round " << round;
}

TEST(HostBarrier, NamesWhoIsLate) {
  const Context context(MPI_COMM_WORLD);
  if (context.size() < 2) GTEST_SKIP() << "for several ranks";
  HostBarrier meeting(*context.state(), context.machine().ranks_of_host(0), context.rank(),
                      context.state()->take_tags(1));
  const int late = context.size() - 1;
  if (context.rank() != late) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < end) EXPECT_FALSE(meeting.meet());
    const std::string awaited = meeting.describe_late("elements");
    EXPECT_NE(awaited.find("rank " + std::to_string(late)), std::string::npos) << awaited;
    EXPECT_EQ(awaited.find("rank " + std::to_string(context.rank())), std::string::npos) << awaited;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  while (!meeting.meet()) std::this_thread::yield();
}

}  // namespace
}  // namespace selvage::detail
