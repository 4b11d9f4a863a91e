// Lists that a rank is late to: to their ghosts, to a rebuild, to a port.
#include "list_fixture.hpp"

#include <selvage/comm/list_halo.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

using Values = Kokkos::View<double*, Space::memory_space>;

/// A ring in which each rank owns ten particles and sends the first three to the next rank. The last one is late.
class ListTimeouts : public ListForms {
 protected:
  void SetUp() override {
    ListForms::SetUp();
    if (IsSkipped()) return;
    short_.emplace();
    hurried_.emplace(MPI_COMM_WORLD);
  }
  void TearDown() override { MPI_Barrier(MPI_COMM_WORLD); }

  [[nodiscard]] int after() const { return (rank() + 1) % size(); }
  [[nodiscard]] bool late() const { return rank() == size() - 1; }
  [[nodiscard]] std::string late_rank() const { return "rank " + std::to_string(size() - 1); }
  [[nodiscard]] ListHalo ring() const {
    return {Space(),
            *hurried_,
            10,
            on_device(std::vector<int>{0, 1, 2}),
            on_device(std::vector<int>(3, after())),
            options()};
  }
  void rebuild(ListHalo& halo) const {
    halo.rebuild(Space(), 10, on_device(std::vector<int>{5}), on_device(std::vector<int>{after()}));
  }
  static void expect_timeout(const std::optional<Error>& error, const std::string& begin,
                             const std::string& part) {
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), ErrorKind::timeout) << error->what();
    EXPECT_EQ(error->message().find(begin), 0U) << error->what();
    EXPECT_NE(error->message().find(part), std::string::npos) << error->what();
  }

  std::optional<ShortTimeout> short_;
  std::optional<Context> hurried_;
};

TEST_P(ListTimeouts, NameTheRankThatIsLate) {
  ListHalo halo = ring();
  const Values x("x", 13);
  for (int round = 0; round < 3; ++round) halo.gather(Space(), x);
  if (late()) return;
  const auto error = thrown_by([&] {
    halo.gather(Space(), x);
    Space().fence();
    halo.check();
  });
  // Which gets ghosts from it.
  if (rank() != 0) return;
  expect_timeout(error, "a list's gather waited " + short_timeout_ms + " ms for " + late_rank() + " (",
                 " epoch 5 wanted");
}

/// One for each way to carry ghosts, or to wait for them.
const std::vector<ListForm> ways_to_wait{
    ListForm{"peer_stream", Transport::peer, Initiation::stream},
    ListForm{"peer_host_named", Transport::peer, Initiation::host, true},
    ListForm{"peer_kernel", Transport::peer, Initiation::kernel},
    ListForm{"queue", {}, Initiation::queue},
    ListForm{"mpi_staged_queue_named", Transport::mpi_staged, Initiation::queue, true},
    ListForm{"mpi_direct_host", Transport::mpi_direct, Initiation::host},
    ListForm{"mpi_staged_named", Transport::mpi_staged, {}, true}};
INSTANTIATE_TEST_SUITE_P(EveryWay, ListTimeouts, testing::ValuesIn(cases_where(ways_to_wait, can_run)),
                         name_of_form);

TEST(ListTimeoutForms, AreAsManyAsStated) {
  const LeastCases least{
      .on_one_host = 7, .on_several_hosts = 4, .on_gpus_of_one_host = 6, .on_gpus_of_several_hosts = 3};
  EXPECT_GE(cases_where(ways_to_wait, must_run).size(), least.here(!on_host));
}

class ListRebuildTimeouts : public ListTimeouts {};

TEST_P(ListRebuildTimeouts, NameTheRankThatIsLate) {
  ListHalo halo = ring();
  if (late()) return;
  const auto error = thrown_by([&] { rebuild(halo); });
  if (rank() != 0) return;
  expect_timeout(error, "", "waited " + short_timeout_ms + " ms for ");
  expect_timeout(error, "", late_rank());
}

/// Over MPI, whatever carries ghosts.
INSTANTIATE_TEST_SUITE_P(Both, ListRebuildTimeouts,
                         testing::Values(ListForm{"over_all"}, ListForm{"named", {}, {}, true}),
                         name_of_form);

class ListPortTimeouts : public ListTimeouts {};

/// The first port is made, later ones are for lists that a running program has rebuilt.
TEST_P(ListPortTimeouts, NameTheRankThatIsLateToOpenOneAnew) {
  if (!this_job().is_on_one_host()) GTEST_SKIP() << "ports are inside hosts";
  ListHalo halo = ring();
  static_cast<void>(halo.device<double>(Space()));
  rebuild(halo);
  if (late()) return;
  const auto error = thrown_by([&] { static_cast<void>(halo.device<double>(Space())); });
  if (after() != size() - 1 && rank() != 0) return;
  expect_timeout(error, "waited " + short_timeout_ms + " ms for " + late_rank(), "to open its list port");
}

INSTANTIATE_TEST_SUITE_P(ByKernels, ListPortTimeouts,
                         testing::Values(ListForm{"kernel", {}, Initiation::kernel}), name_of_form);

}  // namespace
}  // namespace selvage::test
