#include "own_gpus.hpp"
#include "temporary_directory.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/topo/probe.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace selvage::test {
namespace {

using app::testing_support::TemporaryDirectory;
using app::testing_support::write_text;
using Space = Kokkos::DefaultExecutionSpace;

/// Measures the GPUs of this host and names the file of the figures, as `selvage-topo probe` does.
class MeasuredLinksOfGpus : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    setenv("SELVAGE_PROBES", "off", 1);
    if (!have_ranks_own_gpus()) GTEST_SKIP() << "ranks share a GPU: nothing lies between them";
    probes_ =
        topo::probe(MPI_COMM_WORLD, {.latency_bytes = {64}, .bandwidth_bytes = {1 << 20}, .repetitions = 1});
    ASSERT_TRUE(probes_.gpus.is_known()) << probes_.gpus.reason();
    if (rank_ == 0) {
      directory_.emplace();
      write_text(*directory_ / "measured.json", topo::to_json(probes_));
      setenv("SELVAGE_PROBES", (*directory_ / "measured.json").c_str(), 1);
    }
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    setenv("SELVAGE_PROBES", "off", 1);
  }

  int rank_ = 0;
  topo::Probes probes_;
  std::optional<TemporaryDirectory> directory_;
};

TEST_F(MeasuredLinksOfGpus, AreCitedByHalosAndReductionsAndPlaceRanks) {
  const Space space;
  const Context context(space, MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {4096 * context.size()}, .periodic = {true}});
  if (context.size() > 1) {
    EXPECT_NE(grid.explain().find("measured.json"), std::string::npos) << grid.explain();
  }
  const auto view = grid.allocate<double>("u", 1);
  const HaloExchange halo(space, grid, {.width = 1}, view);
  // Which ranks are neighbours hangs on where the Grid put them.
  int cited = 0;
  const topo::MeasuredLinks links(context.machine(), probes_);
  for (int rank = 0; rank < context.size(); ++rank) {
    if (rank == rank_) continue;
    const auto link = links.between(rank_, rank);
    ASSERT_TRUE(link) << rank_ << " to " << rank;
    const std::string text = fmt::format("link {:.3g} us, {:.3g} GB/s (", link->latency_us, link->gb_per_s);
    if (halo.explain().find(text) != std::string::npos) ++cited;
  }
  EXPECT_GT(cited, 0) << halo.explain();
  const Kokkos::View<float*, typename Space::memory_space> gradient("g", 1 << 20);
  const std::string sum = Allreduce(space, context, gradient).explain();
  EXPECT_NE(sum.find("; links "), std::string::npos) << sum;
  EXPECT_NE(sum.find("measured.json)"), std::string::npos) << sum;
  if (rank_ == 0) fmt::print("{}{}{}\n", grid.explain() + "\n", halo.explain(), sum);
}

}  // namespace
}  // namespace selvage::test
