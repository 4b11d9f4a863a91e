#include "job.hpp"
#include "thrown.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/comm/list_halo.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <string>

namespace selvage::test {
namespace {

using namespace std::chrono_literals;
using HostSpace = Kokkos::DefaultHostExecutionSpace;

int rank_in_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A row of cells in a ring of ranks, in host memory.
struct Ring {
  explicit Ring(const ContextOptions& options)
      : context(MPI_COMM_WORLD, options),
        grid(context, {.cells = {4 * context.size()}, .periodic = {true}}),
        row("row", 6) {}

  [[nodiscard]] std::string explain(const HaloOptions<1>& options) const {
    return HaloExchange(HostSpace(), grid, options, row).explain();
  }

  Context context;
  Grid<1> grid;
  Kokkos::View<double*, Kokkos::HostSpace> row;
};

TEST(ContextOptions, BoundWaits) {
  EXPECT_EQ(Context(MPI_COMM_WORLD).timeout(), 30s);
  EXPECT_EQ(Context(MPI_COMM_WORLD).setup_timeout(), 30s);
  const Context shorter(MPI_COMM_WORLD, {.timeout = 1234ms});
  EXPECT_EQ(shorter.timeout(), 1234ms);
  EXPECT_EQ(shorter.setup_timeout(), 30s);
  const Context longer(MPI_COMM_WORLD, {.timeout = 50s});
  EXPECT_EQ(longer.setup_timeout(), 50s);
  const Context both(HostSpace(), MPI_COMM_WORLD, {.timeout = 5s, .setup_timeout = 7s});
  EXPECT_EQ(both.timeout(), 5s);
  EXPECT_EQ(both.setup_timeout(), 7s);
}

TEST(ContextOptions, GiveWayToVariables) {
  const ScopedVariable limit("SELVAGE_TIMEOUT_MS", "40000");
  const ScopedVariable setup_limit("SELVAGE_SETUP_TIMEOUT_MS", "2000");
  const Context context(MPI_COMM_WORLD, {.timeout = 5s, .setup_timeout = 7s});
  EXPECT_EQ(context.timeout(), 40s);
  EXPECT_EQ(context.setup_timeout(), 2s);
}

TEST(ContextOptions, AreRefusedOnAllRanksWhereTheyCannotBe) {
  EXPECT_EQ(
      message_on_all_ranks(ErrorKind::usage, [] { const Context context(MPI_COMM_WORLD, {.timeout = 0ms}); }),
      "ContextOptions::timeout of 0 ms: there are 1 to 86400000");
  EXPECT_EQ(message_on_all_ranks(ErrorKind::usage,
                                 [] { const Context context(MPI_COMM_WORLD, {.setup_timeout = 25h}); }),
            "ContextOptions::setup_timeout of 90000000 ms: there are 1 to 86400000");
  const int last = this_job().ranks() - 1;
  if (last == 0) return;
  const ContextOptions options{.timeout = rank_in_world() == last ? -1ms : 1000ms};
  EXPECT_EQ(
      message_on_all_ranks(ErrorKind::usage, [&] { const Context context(MPI_COMM_WORLD, options); }),
      "ContextOptions::timeout of -1 ms: there are 1 to 86400000 (on rank " + std::to_string(last) + ")");
}

TEST(ContextOptions, ChooseForHalos) {
  const Ring ring({.transport = Transport::mpi_staged, .initiation = Initiation::host});
  if (ring.context.size() == 1) GTEST_SKIP() << "no neighbours";
  const std::string chosen = ring.explain({.width = 1});
  EXPECT_TRUE(says(chosen, ": mpi_staged, host")) << chosen;
  EXPECT_TRUE(says(chosen, "forced by ContextOptions::transport")) << chosen;
  EXPECT_TRUE(says(chosen, "initiation host forced by ContextOptions::initiation")) << chosen;
  const std::string own = ring.explain({.width = 1, .initiation = Initiation::stream});
  EXPECT_TRUE(says(own, "initiation stream forced by the option initiation")) << own;
  const ScopedVariable variable("SELVAGE_INITIATION", "stream");
  const std::string by_variable = ring.explain({.width = 1});
  EXPECT_TRUE(says(by_variable, "initiation stream forced by SELVAGE_INITIATION")) << by_variable;
  EXPECT_TRUE(says(by_variable, "forced by ContextOptions::transport")) << by_variable;
}

TEST(ContextOptions, ChooseForLists) {
  const Context context(MPI_COMM_WORLD, {.transport = Transport::mpi_staged});
  if (context.size() == 1) GTEST_SKIP() << "no neighbours";
  const HostSpace space;
  const Kokkos::View<int*, Kokkos::HostSpace> ids("ids", 1);
  const Kokkos::View<int*, Kokkos::HostSpace> ranks("ranks", 1);
  ranks(0) = (context.rank() + 1) % context.size();
  const ListHalo halo(space, context, 1, ids, ranks);
  EXPECT_TRUE(says(halo.explain(), "mpi_staged")) << halo.explain();
  EXPECT_TRUE(says(halo.explain(), "forced by ContextOptions::transport")) << halo.explain();
}

TEST(ContextOptions, HaveToBeTheSameOnAllRanks) {
  if (this_job().ranks() == 1) GTEST_SKIP() << "one rank";
  const auto transport = rank_in_world() == 0 ? Transport::mpi_staged : Transport::peer;
  const Ring ring({.transport = transport});
  const std::string message =
      message_on_all_ranks(ErrorKind::usage, [&] { static_cast<void>(ring.explain({.width = 1})); });
  EXPECT_TRUE(says(
      message, "ranks disagree on the transport of one HaloExchange: peer on rank 1, mpi_staged on rank 0"))
      << message;
}

TEST(ContextOptions, KeepTheLibraryFromStartingThreads) {
  const auto refusal = [](const ContextOptions& options) {
    Ring ring(options);
    HaloExchange halo(HostSpace(), ring.grid, {.width = 1}, ring.row);
    const auto error = thrown_by([&] { static_cast<void>(halo.device(HostSpace(), ring.row)); });
    return error ? error->message() : "";
  };
  if (this_job().ranks() == 1) GTEST_SKIP() << "no neighbours";
  EXPECT_EQ(refusal({}), "");
  const std::string said = refusal({.service_threads = false});
  EXPECT_TRUE(says(said, "the proxy has no thread: ContextOptions::service_threads is false")) << said;
  const ScopedVariable variable("SELVAGE_PROXY", "thread");
  EXPECT_EQ(refusal({.service_threads = false}), "");
}

}  // namespace
}  // namespace selvage::test
