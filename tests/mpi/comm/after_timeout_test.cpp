#include "halo_fixture.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

/// A communicator that no message has gone over yet.
class FreshRanks {
 public:
  FreshRanks() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  FreshRanks(const FreshRanks&) = delete;
  FreshRanks& operator=(const FreshRanks&) = delete;
  ~FreshRanks() { MPI_Comm_free(&comm_); }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

  [[nodiscard]] int sum(int value) const {
    int total = 0;
    MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, comm_);
    return total;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Whether SELVAGE_INITIATION sends all halos through the proxy, which carries each View by itself.
bool is_carried_by_proxy() {
  const char* initiation = std::getenv("SELVAGE_INITIATION");
  return initiation != nullptr && std::string(initiation) == "queue";
}

/// One rank exchanges one View, the other two: who waits for more runs out of time, and gives up its plan and its
/// Context. The other one is done, and gives up its own when the first has long gone on.
void run_out_of_time(MPI_Comm comm) {
  const ShortTimeout limit;
  const Context context(comm);
  const Grid<1> grid(context, {.cells = {20}});
  const auto u = grid.allocate<double>("u", 1);
  const auto v = grid.allocate<double>("v", 1);
  HaloExchange halo(Space(), grid, {.width = 1}, u, v);
  const auto error = outcome_of(halo, [&] {
    if (grid.rank() == 0) {
      halo.exchange(Space(), u);
    } else {
      halo.exchange(Space(), u, v);
    }
  });
  EXPECT_EQ(error.has_value(), grid.rank() == 1 || !is_carried_by_proxy());
  if (error && is_carried_by_proxy()) {
    EXPECT_EQ(error->kind(), ErrorKind::timeout) << error->message();
    EXPECT_NE(error->message().find("waited " + short_timeout_ms + " ms for rank 0 ("), std::string::npos)
        << error->message();
  }
  MPI_Barrier(comm);
  if (grid.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

/// As many collective calls on the ranks' own communicator as messages have gone over the library's, and more.
int wrong_in_new_exchanges(const FreshRanks& ranks) {
  const Context context(ranks.comm());
  const Grid<1> grid(context, {.cells = {64}, .periodic = {true}});
  const HaloCase<1> ring{"ring", {64}, {true}, 2, true};
  const TestField<FieldKind<1, double, Kokkos::LayoutRight, 0>> field(grid, ring.width, Home::shared);
  HaloExchange halo(Space(), grid, {.width = ring.width}, field.view());
  int wrong = 0;
  for (int round = 0; round < 200; ++round) {
    fill(field, grid, ring.width, 0, round);
    halo.exchange(Space(), field.view());
    wrong += ranks.sum(count_wrong(field, grid, ring, 0, round));
  }
  return wrong;
}

/// What a rank still sends over the communicator of a Context that another has given up must not be taken for a
/// message of another communicator. (It was, since MPI gave the freed one's id to the next, and both ranks hung.)
TEST(AfterATimeout, OtherExchangesAndCollectiveCallsGoOn) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) GTEST_SKIP() << "for two ranks";
  for (int round = 0; round < 2; ++round) {
    const FreshRanks ranks;
    run_out_of_time(ranks.comm());
    ASSERT_EQ(wrong_in_new_exchanges(ranks), 0) << round;
  }
}

/// What is on its way to a plan when an error ends it can't be stopped, and must not land in memory that is another's by
/// then. (It did: the receiver crashed, or its new data changed.)
TEST(AfterAnError, MessagesOnTheirWayLandInNobodysMemory) {
  const Context context(MPI_COMM_WORLD);
  if (context.size() != 2) GTEST_SKIP() << "for two ranks";
  const Grid<2> grid(context, {.cells = {4, 1 << 20}, .ranks = {2, 1}});
  // Only rank 1 receives.
  const Width<2> width{{1, 0}, {0, 0}};
  const auto u = grid.allocate<double>("u", width);
  const std::size_t bytes = sizeof(double) << 20;
  {
    // What comes lies in host memory either way: MPI need not take that of GPUs.
    const Transport transport = on_host ? Transport::mpi_direct : Transport::mpi_staged;
    HaloExchange halo(Space(), grid, {.width = width, .transport = transport}, u);
    static_cast<void>(halo.start(Space(), u));
    // The beginning of the message comes; for the rest this rank has to ask its sender, which sleeps.
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(context.rank() == 0 ? 300 : 100);
    while (context.rank() == 1 && std::chrono::steady_clock::now() < end) {
      int found = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    std::this_thread::sleep_until(end);
    if (context.rank() == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  std::vector<std::vector<char>> fresh(4, std::vector<char>(bytes, 1));
  if (context.rank() == 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const auto& data : fresh)
    EXPECT_EQ(std::count(data.begin(), data.end(), 1), static_cast<std::ptrdiff_t>(bytes));
}

class AllreduceAfterATimeout : public testing::TestWithParam<AllreduceAlgorithm> {};

/// The second rank starts and then tarries; the first one gives up while it waits for that one's result, which comes later.
TEST_P(AllreduceAfterATimeout, LeavesTheViewAlone) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2 || !on_host) GTEST_SKIP() << "for two ranks on a host";
  const ShortTimeout limit;
  const ScopedVariable hosts("SELVAGE_LOGICAL_HOSTS", "2x1");
  const Context context(MPI_COMM_WORLD);
  const Kokkos::View<double*, Space> view("elements", 100);
  std::optional<Allreduce> sum(std::in_place, Space(), context, view,
                               AllreduceOptions{.algorithm = GetParam(), .allow_reordering = true});
  if (context.rank() == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto error = thrown_by([&] { sum->run(Space()); });
    EXPECT_EQ(error ? to_string(error->kind()) : "none", to_string(ErrorKind::timeout));
    sum.reset();
    Kokkos::deep_copy(view, -1.0);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    auto pending = sum->start(Space());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    static_cast<void>(thrown_by([&] { sum->finish(Space(), std::move(pending)); }));
  }
  for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (context.rank() != 0) return;
  for (std::size_t i = 0; i < view.size(); ++i) ASSERT_EQ(view(i), -1.0) << i;
}

INSTANTIATE_TEST_SUITE_P(ByMessages, AllreduceAfterATimeout,
                         testing::Values(AllreduceAlgorithm::mpi, AllreduceAlgorithm::hierarchical,
                                         AllreduceAlgorithm::ring),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace
}  // namespace selvage::test
