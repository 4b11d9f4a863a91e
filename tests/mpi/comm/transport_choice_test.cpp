#include "halo_conformance.hpp"
#include "thrown.hpp"

#include <optional>
#include <string>

namespace selvage::test {
namespace {

const HaloCase<2> periodic_case{"periodic", {12, 14}, {true, true}, 1, true};
using Field = TestField<FieldKind<2, double, Kokkos::LayoutRight, 0>>;
using testing::PrintToString;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class TransportChoice : public testing::Test {
 protected:
  TransportChoice() : grid_(context_, {.cells = periodic_case.cells, .periodic = periodic_case.periodic}) {}

  /// \return what explain() says of the choice
  std::string explain(const HaloOptions<2>& options, const Field& field) const {
    return HaloExchange(Space(), grid_, options, field.view()).explain();
  }
  [[nodiscard]] bool alone() const { return context_.size() == 1; }

  const Context context_{MPI_COMM_WORLD};
  const Grid<2> grid_;
  const Field shared_{grid_, periodic_case.width, Home::shared};
  const Field heap_{grid_, periodic_case.width, Home::heap};
};

TEST_F(TransportChoice, IsPeerOnOneHost) {
  if (alone()) GTEST_SKIP() << "no neighbours";
  const std::string text = explain({.width = 1}, shared_);
  EXPECT_TRUE(contains(text, ": peer, ")) << text;
  EXPECT_TRUE(contains(text, "same host, all Views in shared memory")) << text;
}

TEST_F(TransportChoice, TakesHeapViewsThroughMpiAndNamesThem) {
  if (alone()) GTEST_SKIP() << "no neighbours";
  const std::string text = explain({.width = 1}, heap_);
  EXPECT_TRUE(contains(text, ": " + std::string(to_string(chosen_mpi(context_))) + ", ")) << text;
  EXPECT_TRUE(contains(text, "not peer: View 0 of rank ")) << text;
  EXPECT_TRUE(contains(text, detail::is_host_space<Space>
                                 ? "is not in shared memory (Grid::allocate gives such)"
                                 : "is in GPU memory that no other process can map (as"))
      << text;
}

TEST_F(TransportChoice, ExchangesHeapViewsExactly) {
  expect_exact<FieldKind<2, double, Kokkos::LayoutRight, 0>>(grid_, periodic_case, {.width = 1}, Home::heap);
}

TEST_F(TransportChoice, IsTheSameOnBothSidesWhenOnlyOneRankHasAHeapView) {
  const Field& mine = grid_.rank() == 0 ? heap_ : shared_;
  HaloExchange halo(Space(), grid_, {.width = 1}, mine.view());
  for (int round = 0; round < 3; ++round) {
    fill(mine, grid_, periodic_case.width, 0, round);
    halo.exchange(Space(), mine.view());
    ASSERT_EQ(on_all_ranks(count_wrong(mine, grid_, periodic_case, 0, round)), 0) << halo.explain();
  }
}

TEST_F(TransportChoice, RefusesForcedPeersForHeapViewsOnAllRanks) {
  if (alone()) GTEST_SKIP() << "no neighbours";
  const std::string message = message_on_all_ranks(ErrorKind::unsupported, [&] {
    const HaloExchange halo(Space(), grid_, {.width = 1, .transport = Transport::peer}, heap_.view());
  });
  EXPECT_TRUE(contains(message, "transport peer, forced by the option transport, is not possible with rank"))
      << message;
  EXPECT_TRUE(contains(message, "View 0 of rank ")) << message;
}

TEST_F(TransportChoice, RefusesForcedPeersWhenOneRankHasAHeapView) {
  if (alone()) GTEST_SKIP() << "no neighbours";
  const Field& mine = grid_.rank() == grid_.size() - 1 ? heap_ : shared_;
  message_on_all_ranks(ErrorKind::unsupported, [&] {
    const HaloExchange halo(Space(), grid_, {.width = 1, .transport = Transport::peer}, mine.view());
  });
}

TEST_F(TransportChoice, FollowsTheEnvironment) {
  if (alone()) GTEST_SKIP() << "no neighbours";
  const ScopedVariable transport("SELVAGE_TRANSPORT", "mpi_staged");
  const ScopedVariable initiation("SELVAGE_INITIATION", "host");
  const std::string text = explain({.width = 1}, shared_);
  EXPECT_TRUE(contains(text, ": mpi_staged, ")) << text;
  EXPECT_TRUE(contains(text, "forced by SELVAGE_TRANSPORT")) << text;
  EXPECT_TRUE(contains(text, "initiation host forced by SELVAGE_INITIATION")) << text;
}

TEST_F(TransportChoice, FollowsTheOptionRatherThanTheEnvironment) {
  if (alone()) GTEST_SKIP() << "no neighbours";
  const ScopedVariable transport("SELVAGE_TRANSPORT", "mpi_staged");
  const ScopedVariable initiation("SELVAGE_INITIATION", "kernel");
  const std::string text =
      explain({.width = 1, .transport = Transport::peer, .initiation = Initiation::host}, shared_);
  EXPECT_TRUE(contains(text, ": peer, ")) << text;
  EXPECT_TRUE(contains(text, "forced by the option transport")) << text;
  EXPECT_TRUE(contains(text, "initiation host forced by the option initiation")) << text;
}

TEST_F(TransportChoice, GivesMpiNoGpuMemoryWhereToldNotTo) {
  if (alone() || on_host) GTEST_SKIP() << "for several ranks with GPUs";
  const ScopedVariable opinion("SELVAGE_GPU_AWARE_MPI", "no");
  const Context context(MPI_COMM_WORLD);
  const Grid<2> grid(context, {.cells = periodic_case.cells, .periodic = periodic_case.periodic});
  const std::string message = message_on_all_ranks(ErrorKind::unsupported, [&] {
    const HaloExchange halo(Space(), grid, {.width = 1, .transport = Transport::mpi_direct}, shared_.view());
  });
  EXPECT_TRUE(contains(message, ": SELVAGE_GPU_AWARE_MPI=no")) << message;
}

TEST_F(TransportChoice, NamesABadOpinionOfMpi) {
  if (on_host) GTEST_SKIP() << "nobody asks";
  const ScopedVariable opinion("SELVAGE_GPU_AWARE_MPI", "perhaps");
  EXPECT_EQ(message_on_all_ranks(ErrorKind::input, [] { const Context context(MPI_COMM_WORLD); }),
            "SELVAGE_GPU_AWARE_MPI=perhaps: there are yes, no");
}

TEST_F(TransportChoice, TakesAnEmptyVariableForNone) {
  const ScopedVariable transport("SELVAGE_TRANSPORT", "");
  const ScopedVariable initiation("SELVAGE_INITIATION", "");
  EXPECT_FALSE(contains(explain({.width = 1}, shared_), "forced"));
}

TEST_F(TransportChoice, ListsWhatThereIsForABadVariable) {
  {
    const ScopedVariable transport("SELVAGE_TRANSPORT", "pigeon");
    const std::string message =
        message_on_all_ranks(ErrorKind::input, [&] { static_cast<void>(explain({.width = 1}, shared_)); });
    EXPECT_EQ(message,
              "SELVAGE_TRANSPORT=pigeon: \"pigeon\" is no transport: there are peer, copy_engine, "
              "mpi_direct, mpi_staged, ring");
  }
  const ScopedVariable initiation("SELVAGE_INITIATION", "now");
  const std::string message =
      message_on_all_ranks(ErrorKind::input, [&] { static_cast<void>(explain({.width = 1}, shared_)); });
  EXPECT_EQ(message,
            "SELVAGE_INITIATION=now: \"now\" is no initiation: there are host, stream, queue, kernel");
}

TEST_F(TransportChoice, NamesRanksWhoseEnvironmentsDiffer) {
  if (alone()) GTEST_SKIP() << "nobody to differ from";
  const bool last = grid_.rank() == grid_.size() - 1;
  const ScopedVariable transport("SELVAGE_TRANSPORT", last ? "mpi_staged" : "peer");
  const std::string message =
      message_on_all_ranks(ErrorKind::usage, [&] { static_cast<void>(explain({.width = 1}, shared_)); });
  EXPECT_TRUE(contains(message, "ranks disagree on the transport of one HaloExchange")) << message;
  EXPECT_TRUE(contains(message, "mpi_staged on rank " + std::to_string(grid_.size() - 1))) << message;
}

TEST_F(TransportChoice, CopiesWithinARankThatIsItsOwnNeighbour) {
  if (!alone()) GTEST_SKIP() << "for one rank";
  HaloExchange halo(Space(), grid_, {.width = 1, .transport = Transport::peer}, heap_.view());
  EXPECT_TRUE(contains(halo.explain(), ": copy, ")) << halo.explain();
  EXPECT_TRUE(contains(halo.explain(), "the neighbour is this rank itself"));
  EXPECT_EQ(halo.bytes_per_exchange(), 0);
}

TEST_F(TransportChoice, IsExplainedWithTheSameTextEveryTime) {
  HaloExchange halo(Space(), grid_, {.width = 1}, shared_.view());
  const std::string before = halo.explain();
  halo.exchange(Space(), shared_.view());
  EXPECT_EQ(halo.explain(), before);
  EXPECT_TRUE(
      contains(before, "halo of rank " + std::to_string(grid_.rank()) + ": 1 View, width 1+1 1+1, corners"))
      << before;
}

TEST_F(TransportChoice, IsExplainedWhereThereIsNobodyToExchangeWith) {
  if (!alone()) GTEST_SKIP() << "for one rank";
  const Grid<2> open(context_, {.cells = {4, 4}});
  const Field field(open, 1, Home::shared);
  HaloExchange halo(Space(), open, {.width = 1}, field.view());
  EXPECT_TRUE(contains(halo.explain(), "no neighbours")) << halo.explain();
  EXPECT_NO_THROW(halo.exchange(Space(), field.view()));
}

}  // namespace
}  // namespace selvage::test
