#include "temporary_directory.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/topo/probe.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace selvage::test {
namespace {

using app::testing_support::TemporaryDirectory;
using app::testing_support::write_text;
using Space = Kokkos::DefaultHostExecutionSpace;

/// Figures that nobody has measured, in a file that rank 0 sees. Run with SELVAGE_LOGICAL_HOSTS=2x2.
class MeasuredLinksOfAJob : public testing::Test {
 protected:
  MeasuredLinksOfAJob() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (rank_ == 0) directory_.emplace();
  }
  ~MeasuredLinksOfAJob() override {
    MPI_Barrier(MPI_COMM_WORLD);
    setenv("SELVAGE_PROBES", "off", 1);
    unsetenv("XDG_CONFIG_HOME");
  }

  /// Of two ranks on the host of this test.
  static std::string figures() {
    const std::string host = topo::detect(MPI_COMM_WORLD).physical_hosts().front().name;
    topo::Probes probes{
        .hosts = {host, host}, .latency_bytes = {8}, .bandwidth_bytes = {1 << 20}, .pairs = {}, .gpus = {}};
    for (const int from : {0, 1})
      probes.pairs.push_back(
          {.from = from, .to = 1 - from, .latency_us = {1.25}, .gb_per_s = {12.5}, .gb_per_s_together = 8});
    return topo::to_json(probes);
  }
  [[nodiscard]] std::string path() const { return rank_ == 0 ? *directory_ / "mine.json" : "absent"; }
  void name_file(const std::string& text) const {
    if (rank_ == 0) write_text(path(), text);
    setenv("SELVAGE_PROBES", path().c_str(), 1);
  }
  static std::string explained_halo(const Context& context) {
    const Grid<1> grid(context, {.cells = {40}, .periodic = {true}});
    const auto view = grid.allocate<double, void, Kokkos::HostSpace>("u", 1);
    return HaloExchange(Space(), grid, {.width = 1}, view).explain();
  }

  int rank_ = 0;
  std::optional<TemporaryDirectory> directory_;
};

TEST_F(MeasuredLinksOfAJob, AreCitedByHalosAndReductions) {
  name_file(figures());
  const Context context(Space(), MPI_COMM_WORLD);
  const std::string halo = explained_halo(context);
  const std::size_t at = halo.find("; link 1.25 us, 12.5 GB/s (");
  ASSERT_NE(at, std::string::npos) << halo;
  EXPECT_NE(halo.find("mine.json)\n", at), std::string::npos) << halo;
  const Kokkos::View<float*, Kokkos::HostSpace> view("g", 1000);
  const std::string sum = Allreduce(Space(), context, view).explain();
  EXPECT_NE(sum.find("; links 1.25 us, 12.5 GB/s ("), std::string::npos) << sum;
}

TEST_F(MeasuredLinksOfAJob, DecideHowFarRanksAre) {
  const Context unmeasured(Space(), MPI_COMM_WORLD);
  const GridOptions<2> options{.cells = {8, 8}, .ranks = {2, 2}};
  const std::string assumed = Grid<2>(unmeasured, options).explain();
  EXPECT_NE(assumed.find("machine, 4 ranks on 2 hosts"), std::string::npos) << assumed;
  name_file(figures());
  const Context context(Space(), MPI_COMM_WORLD);
  const std::string measured = Grid<2>(context, options).explain();
  EXPECT_TRUE(
      measured.starts_with("process grid 2 x 2, ranks in order: all places are equally far from each "
                           "other (measured by "))
      << measured;
  EXPECT_TRUE(measured.ends_with("mine.json, 4 ranks on 2 hosts)")) << measured;
}

TEST_F(MeasuredLinksOfAJob, OfABrokenFileThatIsNamedAreAnError) {
  name_file("{}");
  const Context context(Space(), MPI_COMM_WORLD);
  const std::string message = message_on_all_ranks(ErrorKind::input, [&] { explained_halo(context); });
  EXPECT_NE(message.find("mine.json: it holds no probes of version 2 (SELVAGE_PROBES names it)"),
            std::string::npos)
      << message;
}

TEST_F(MeasuredLinksOfAJob, OfABrokenFileInTheDefaultPlaceAreLeftAlone) {
  unsetenv("SELVAGE_PROBES");
  setenv("XDG_CONFIG_HOME", rank_ == 0 ? directory_->path().c_str() : "absent", 1);
  if (rank_ == 0) {
    std::filesystem::create_directories(*directory_ / "selvage");
    write_text(*directory_ / "selvage/probes.json", "[]");
  }
  const Context context(Space(), MPI_COMM_WORLD);
  const std::string text = Grid<1>(context, {.cells = {8}}).explain();
  EXPECT_NE(text.find("; probes left alone: "), std::string::npos) << text;
  EXPECT_NE(text.find("it is not a JSON object"), std::string::npos) << text;
}

}  // namespace
}  // namespace selvage::test
