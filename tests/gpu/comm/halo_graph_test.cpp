#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>

namespace selvage {
namespace {

using View = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::CudaSpace>;

using Policy = Kokkos::MDRangePolicy<Kokkos::Cuda, Kokkos::Rank<2>>;
using Round = Kokkos::View<double, Kokkos::CudaSpace>;
using Count = Kokkos::View<int, Kokkos::CudaSpace>;

/// Owned cells hold round, row and column.
void fill(const Kokkos::Cuda& space, const View& field, const Round& round, int first_row) {
  const auto rows = static_cast<int>(field.extent(0));
  const auto columns = static_cast<int>(field.extent(1));
  Kokkos::parallel_for(
      "test::fill", Policy(space, {1, 1}, {rows - 1, columns - 1}),
      KOKKOS_LAMBDA(int i, int j) { field(i, j) = round() * 1e6 + (first_row + i - 1) * 1e3 + j - 1; });
}

/// Counts wrong cells, ghosts included, then begins the next round.
void check(const Kokkos::Cuda& space, const View& field, const Round& round, const Count& wrong,
           int first_row, int all_rows) {
  const auto rows = static_cast<int>(field.extent(0));
  const auto columns = static_cast<int>(field.extent(1));
  Kokkos::parallel_for(
      "test::check", Policy(space, {0, 0}, {rows, columns}), KOKKOS_LAMBDA(int i, int j) {
        const int row = (first_row + i - 1 + all_rows) % all_rows;
        const int column = (j - 1 + columns - 2) % (columns - 2);
        if (field(i, j) != round() * 1e6 + row * 1e3 + column) Kokkos::atomic_inc(&wrong());
      });
  Kokkos::parallel_for(
      "test::next", Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, 1), KOKKOS_LAMBDA(int) { round() += 1; });
}

/// A row of boxes that wraps around; both fields take turns, one step each per replay.
class GraphTest : public testing::TestWithParam<GhostReuse> {
 protected:
  GraphTest()
      : context_(MPI_COMM_WORLD),
        grid_(context_,
              {.cells = {4 * context_.size(), 700}, .periodic = {true, true}, .ranks = {context_.size(), 1}}),
        u_(grid_.allocate<double, Kokkos::LayoutRight>("u", 1)),
        v_(grid_.allocate<double, Kokkos::LayoutRight>("v", 1)),
        round_("round"),
        wrong_("wrong") {}

  /// Enqueues: the round's values into `field`, its exchange, and a count of wrong ghosts.
  void enqueue_round(HaloExchange& halo, const View& field) const {
    const auto first_row = static_cast<int>(grid_.box().begin[0]);
    fill(space_, field, round_, first_row);
    halo.exchange(space_, field);
    check(space_, field, round_, wrong_, first_row, static_cast<int>(grid_.cells()[0]));
  }

  [[nodiscard]] int wrong() const {
    int value = -1;
    Kokkos::deep_copy(value, wrong_);
    return value;
  }

  Kokkos::Cuda space_;
  Context context_;
  Grid<2> grid_;
  View u_, v_;
  Round round_;
  Count wrong_;
};

INSTANTIATE_TEST_SUITE_P(BothReuses, GraphTest, testing::Values(GhostReuse::credit, GhostReuse::alternating));

TEST_P(GraphTest, ReplaysACapturedExchangeTenThousandTimes) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  space_ = Kokkos::Cuda(stream);
  HaloExchange halo(space_, grid_, {.ghost_reuse = GetParam()}, u_, v_);
  if (halo.explain().find("stream") == std::string::npos && context_.size() > 1)
    GTEST_SKIP() << halo.explain();
  // Outside a graph first: kernels load when they are first launched.
  enqueue_round(halo, u_);
  enqueue_round(halo, v_);
  space_.fence();

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  enqueue_round(halo, u_);
  enqueue_round(halo, v_);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  // Ranks that share a GPU take turns on it by time slices.
  const int replays =
      context_.machine().same_gpu(0, context_.size() - 1) && context_.size() > 1 ? 200 : 10'000;
  for (int replay = 0; replay < replays; ++replay)
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  space_.fence();
  EXPECT_NO_THROW(halo.check());
  EXPECT_EQ(wrong(), 0);
  double rounds = 0;
  Kokkos::deep_copy(rounds, round_);
  EXPECT_EQ(rounds, 2.0 * replays + 2);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace selvage
