#include "halo_fixture.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

/// A ring of ranks of which the last one is late. It waits in MPI_COMM_WORLD, where the others join it once
/// they have run out of time, so that all of them end.
class Timeout : public testing::TestWithParam<Transport> {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  void TearDown() override { MPI_Barrier(MPI_COMM_WORLD); }

  [[nodiscard]] bool late() const { return rank_ == size_ - 1; }
  [[nodiscard]] bool beside_the_late_one() const { return !late() && (rank_ == 0 || rank_ == size_ - 2); }
  [[nodiscard]] std::string late_rank() const { return "rank " + std::to_string(size_ - 1); }

  /// What a message calls the way that the tested transport waits.
  [[nodiscard]] static std::string wire() {
    switch (GetParam()) {
      case Transport::peer:
        return "peer transport";
      case Transport::copy_engine:
        return "copy_engine transport";
      default:
        return "MPI";
    }
  }
  /// Who may run out of time without being beside the late one: all that is sent waits for all credits.
  [[nodiscard]] bool may_wait_for_the_waiting() const {
    return GetParam() == Transport::copy_engine && !late() && !beside_the_late_one();
  }
  static bool contains(const std::optional<Error>& error, const std::string& part) {
    return error && error->message().find(part) != std::string::npos;
  }
  static std::string text_of(const std::optional<Error>& error) {
    return error ? error->message() : "nothing was thrown";
  }

  const ShortTimeout timeout_;
  int rank_ = 0;
  int size_ = 1;
};

TEST_P(Timeout, OfAnExchangeNamesTheLateRankAndTheEpochs) {
  const Context context(MPI_COMM_WORLD);
  if (is_refused(context, GetParam())) GTEST_SKIP() << "MPI refuses GPU memory";
  EXPECT_EQ(context.timeout().count(), std::stoi(short_timeout_ms));
  const Grid<1> grid(context, {.cells = {10 * size_}, .periodic = {true}, .reorder = false});
  const auto view = grid.allocate<double>("u", 1);
  HaloExchange halo(Space(), grid, {.width = 1, .transport = GetParam()}, view);
  for (int round = 0; round < 3; ++round) halo.exchange(Space(), view);
  EXPECT_FALSE(halo.failed());
  std::optional<Error> error;
  if (!late()) error = outcome_of(halo, [&] { halo.exchange(Space(), view); });
  if (!may_wait_for_the_waiting()) {
    EXPECT_EQ(error.has_value(), beside_the_late_one()) << text_of(error);
  }
  if (error && beside_the_late_one()) {
    EXPECT_EQ(error->kind(), ErrorKind::timeout);
    EXPECT_TRUE(contains(error, "a halo exchange ")) << text_of(error);
    EXPECT_TRUE(
        contains(error, "waited " + short_timeout_ms + " ms for " + late_rank() + " (" + wire() + ", "))
        << text_of(error);
    EXPECT_TRUE(contains(error, "epoch 4 wanted, 3 seen")) << text_of(error);
    EXPECT_TRUE(halo.failed());
    const auto again = thrown_by([&] { halo.exchange(Space(), view); });
    EXPECT_TRUE(again && again->kind() == ErrorKind::usage);
    EXPECT_TRUE(contains(again, "a HaloExchange can't go on after an error: " + error->message()))
        << text_of(again);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_P(Timeout, OfAReductionNamesTheLateRank) {
  const Context context(MPI_COMM_WORLD);
  if (is_refused(context, GetParam())) GTEST_SKIP() << "MPI refuses GPU memory";
  const Grid<1> grid(context, {.cells = {10 * size_}, .periodic = {true}, .reorder = false});
  const auto view = grid.allocate<double>("u", 1);
  HaloExchange halo(Space(), grid, {.width = 1, .transport = GetParam()}, view);
  std::optional<Error> error;
  if (!late()) error = outcome_of(halo, [&] { halo.reduce(Space(), ReduceOperation::sum, view); });
  if (!may_wait_for_the_waiting()) {
    EXPECT_EQ(error.has_value(), beside_the_late_one()) << text_of(error);
  }
  if (error && beside_the_late_one()) {
    EXPECT_TRUE(contains(error, "a halo reduction ")) << text_of(error);
    EXPECT_TRUE(
        contains(error, "waited " + short_timeout_ms + " ms for " + late_rank() + " (" + wire() + ", "))
        << text_of(error);
    EXPECT_TRUE(contains(error, "epoch 1 wanted, 0 seen")) << text_of(error);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_P(Timeout, DoesNotCatchARankThatIsOnlyALittleLate) {
  const Context context(MPI_COMM_WORLD);
  if (is_refused(context, GetParam())) GTEST_SKIP() << "MPI refuses GPU memory";
  const Grid<1> grid(context, {.cells = {10 * size_}, .periodic = {true}, .reorder = false});
  const auto view = grid.allocate<double>("u", 1);
  HaloExchange halo(Space(), grid, {.width = 1, .transport = GetParam()}, view);
  const double begin = MPI_Wtime();
  while (late() && MPI_Wtime() - begin < 0.05) continue;
  const auto error = outcome_of(halo, [&] { halo.exchange(Space(), view); });
  EXPECT_FALSE(error) << text_of(error);
}

std::string name_of_transport(const testing::TestParamInfo<Transport>& tested) {
  return std::string(to_string(tested.param));
}

/// A rank alone waits for nobody.
std::vector<Transport> waiting_transports() {
  return this_job().ranks() > 1 ? carrying_transports() : std::vector<Transport>();
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Timeout);
INSTANTIATE_TEST_SUITE_P(EveryTransport, Timeout, testing::ValuesIn(waiting_transports()), name_of_transport);

TEST(TimeoutTransports, AreRefusedWhereTheyDontRun) {
  expect_other_transports_refused();
}

}  // namespace
}  // namespace selvage::test
