#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace selvage::test {
namespace {

/// A ring of two cells per rank, each the number of its rank.
class ThreadsOfAContext : public testing::Test {
 protected:
  void SetUp() override {
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    if (!on_host || context.size() == 1 || provided < MPI_THREAD_MULTIPLE)
      GTEST_SKIP() << "takes a rank that waits for another one, in a thread";
    Kokkos::deep_copy(view, context.rank());
  }

  void expect_ghosts() const {
    const int size = context.size();
    EXPECT_EQ(view(0), (context.rank() + size - 1) % size);
    EXPECT_EQ(view(3), (context.rank() + 1) % size);
  }

  const Context context{MPI_COMM_WORLD};
  const Grid<1> ring{context, {.cells = {2 * context.size()}, .periodic = {true}, .reorder = false}};
  const Kokkos::View<double*, Space> view = ring.allocate<double>("cells", 1);
};

TEST_F(ThreadsOfAContext, AreRefusedWhileOneWaits) {
  HaloExchange halo(Space(), ring, {.width = 1}, view);
  if (context.rank() == 0) {
    std::atomic<bool> begins = false;
    std::thread first([&] {
      begins = true;
      halo.exchange(Space(), view);
    });
    while (!begins) std::this_thread::yield();
    // The first thread waits until the others are told to come.
    std::optional<Error> error;
    for (int tries = 0; tries < 100 && !error; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      error = thrown_by([&] { halo.check(); });
    }
    EXPECT_TRUE(error);
    if (error) {
      EXPECT_EQ(error->kind(), ErrorKind::usage);
      EXPECT_NE(error->message().find("two threads of rank 0"), std::string::npos) << error->message();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    first.join();
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    halo.exchange(Space(), view);
  }
  EXPECT_FALSE(halo.failed());
  expect_ghosts();
}

TEST_F(ThreadsOfAContext, FinishWhatAnotherStarted) {
  HaloExchange halo(Space(), ring, {.width = 1}, view);
  auto pending = halo.start(Space(), view);
  std::thread([&] { halo.finish(Space(), std::move(pending)); }).join();
  expect_ghosts();
}

}  // namespace
}  // namespace selvage::test
