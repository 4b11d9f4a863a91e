#include "halo_conformance.hpp"
#include "thrown.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

const HaloCase<2> start_case{"periodic", {21, 24}, {true, true}, {{1, 2}, {2, 1}}, true};
using Kind = FieldKind<2, double, Kokkos::LayoutRight, 0>;
using Field = TestField<Kind>;

class StartFinish : public testing::TestWithParam<Transport> {
 protected:
  StartFinish() : grid_(context_, {.cells = start_case.cells, .periodic = start_case.periodic}) {}
  void SetUp() override {
    if (is_refused(context_, GetParam())) GTEST_SKIP() << "MPI refuses GPU memory";
  }

  [[nodiscard]] HaloOptions<2> options() const {
    return {.width = start_case.width, .transport = GetParam()};
  }
  [[nodiscard]] HaloExchange make(const Field& u) const { return {Space(), grid_, options(), u.view()}; }

  const Context context_{MPI_COMM_WORLD};
  const Grid<2> grid_;
  const Field u_{grid_, start_case.width, Home::shared};
  const Field v_{grid_, start_case.width, Home::shared};
};

struct AddTo {
  decltype(std::declval<Field>().view()) view;
  double value;
  KOKKOS_FUNCTION void operator()(int i, int j) const { view(i, j) += value; }
};

/// Adds to the cells that no neighbour keeps as ghosts, as a code does that hides the exchange behind its
/// work.
void add_to_interior(const Field& field, const Grid<2>& grid, double value) {
  const Width<2>& width = start_case.width;
  std::array<std::int64_t, 2> begin{};
  std::array<std::int64_t, 2> end{};
  for (int axis = 0; axis < 2; ++axis) {
    begin[axis] = width[axis].low + width[axis].high;
    end[axis] = width[axis].low + grid.box().extent(axis) - width[axis].low;
  }
  Kokkos::parallel_for("add_to_interior",
                       Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>({begin[0], begin[1]}, {end[0], end[1]}),
                       AddTo{field.view(), value});
}

TEST_P(StartFinish, FillsGhostsBesideWorkOnTheInterior) {
  HaloExchange halo = make(u_);
  for (int round = 0; round < 5; ++round) {
    fill(u_, grid_, start_case.width, 0, round);
    auto pending = halo.start(Space(), u_.view());
    add_to_interior(u_, grid_, 1.0);
    halo.finish(Space(), std::move(pending));
    add_to_interior(u_, grid_, -1.0);
    ASSERT_EQ(on_all_ranks(count_wrong(u_, grid_, start_case, 0, round)), 0);
  }
}

TEST_P(StartFinish, RefusesASecondFinishOfOneStart) {
  HaloExchange halo = make(u_);
  auto pending = halo.start(Space(), u_.view());
  halo.finish(Space(), std::move(pending));
  const auto error =
      thrown_by([&] { halo.finish(Space(), std::move(pending)); });  // NOLINT(bugprone-use-after-move)
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_EQ(error->message(), "finish() needs what start() of the same HaloExchange returned, once");
  EXPECT_NO_THROW(halo.exchange(Space(), u_.view()));
}

TEST_P(StartFinish, RefusesToFinishAnEarlierStart) {
  HaloExchange halo = make(u_);
  auto first = halo.start(Space(), u_.view());
  auto copy_of_no_exchange = std::move(first);
  halo.finish(Space(), std::move(copy_of_no_exchange));
  auto second = halo.start(Space(), u_.view());
  EXPECT_EQ(
      thrown_by([&] { halo.finish(Space(), std::move(first)); })->kind(),  // NOLINT(bugprone-use-after-move)
      ErrorKind::usage);
  EXPECT_NO_THROW(halo.finish(Space(), std::move(second)));
}

TEST_P(StartFinish, RefusesToFinishWhatAnotherHaloExchangeStarted) {
  HaloExchange first = make(u_);
  HaloExchange second = make(v_);
  fill(u_, grid_, start_case.width, 0, 0);
  fill(v_, grid_, start_case.width, 1, 0);
  auto of_first = first.start(Space(), u_.view());
  auto of_second = second.start(Space(), v_.view());
  const auto error = thrown_by([&] { second.finish(Space(), std::move(of_first)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  first.finish(Space(), std::move(of_first));  // NOLINT(bugprone-use-after-move): it was not taken
  second.finish(Space(), std::move(of_second));
  EXPECT_EQ(on_all_ranks(count_wrong(u_, grid_, start_case, 0, 0)), 0);
  EXPECT_EQ(on_all_ranks(count_wrong(v_, grid_, start_case, 1, 0)), 0);
}

TEST_P(StartFinish, RefusesASecondStartBeforeTheFinish) {
  HaloExchange halo = make(u_);
  auto pending = halo.start(Space(), u_.view());
  const auto again = thrown_by([&] { static_cast<void>(halo.start(Space(), u_.view())); });
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kind(), ErrorKind::usage);
  EXPECT_EQ(again->message(), "the exchange of epoch 1 is still in flight: finish it first");
  EXPECT_EQ(thrown_by([&] { halo.reduce(Space(), ReduceOperation::sum, u_.view()); })->kind(),
            ErrorKind::usage);
  EXPECT_NO_THROW(halo.finish(Space(), std::move(pending)));
  EXPECT_NO_THROW(halo.exchange(Space(), u_.view()));
}

TEST_P(StartFinish, RefusesAViewThatWasNotPlanned) {
  HaloExchange halo = make(u_);
  for (const bool reduce : {false, true}) {
    const auto error = thrown_by([&] {
      if (reduce) {
        halo.reduce(Space(), ReduceOperation::sum, v_.view());
      } else {
        halo.exchange(Space(), u_.view(), v_.view());
      }
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    EXPECT_EQ(error->message(), "a View that was not given to this HaloExchange's constructor");
  }
  EXPECT_NO_THROW(halo.exchange(Space(), u_.view()));
}

TEST_P(StartFinish, RefusesAnExchangeOfNothing) {
  HaloExchange halo = make(u_);
  EXPECT_EQ(thrown_by([&] { halo.exchange(Space()); })->kind(), ErrorKind::usage);
  EXPECT_NO_THROW(halo.exchange(Space(), u_.view()));
}

TEST_P(StartFinish, LetsSeveralHaloExchangesBeInFlight) {
  std::vector<Field> fields;
  std::vector<HaloExchange> halos;
  for (int i = 0; i < 5; ++i) {
    fields.emplace_back(grid_, start_case.width, Home::shared);
    halos.push_back(make(fields.back()));
  }
  for (int round = 0; round < 4; ++round) {
    std::vector<HaloExchange::Pending> pending;
    for (int i = 0; i < 5; ++i) {
      fill(fields[i], grid_, start_case.width, i, round);
      pending.push_back(halos[i].start(Space(), fields[i].view()));
    }
    for (const int i : {2, 4, 0, 3, 1}) halos[i].finish(Space(), std::move(pending[i]));
    for (int i = 0; i < 5; ++i)
      ASSERT_EQ(on_all_ranks(count_wrong(fields[i], grid_, start_case, i, round)), 0);
  }
}

TEST_P(StartFinish, GoesOnInAMovedHaloExchange) {
  HaloExchange first = make(u_);
  fill(u_, grid_, start_case.width, 0, 0);
  auto pending = first.start(Space(), u_.view());
  HaloExchange second = std::move(first);
  second.finish(Space(), std::move(pending));
  EXPECT_EQ(on_all_ranks(count_wrong(u_, grid_, start_case, 0, 0)), 0);
  HaloExchange third = make(v_);
  third = std::move(second);
  fill(u_, grid_, start_case.width, 0, 1);
  third.exchange(Space(), u_.view());
  EXPECT_EQ(on_all_ranks(count_wrong(u_, grid_, start_case, 0, 1)), 0);
}

TEST_P(StartFinish, OutlivesTheContextAndGridItWasMadeFrom) {
  std::optional<HaloExchange> halo;
  std::optional<Field> field;
  {
    const Context context(MPI_COMM_WORLD);
    const Context copy = context;  // NOLINT(performance-unnecessary-copy-initialization)
    const Grid<2> grid(copy, {.cells = start_case.cells, .periodic = start_case.periodic});
    field.emplace(grid, start_case.width, Home::shared);
    halo.emplace(Space(), grid, options(), field->view());
  }
  fill(*field, grid_, start_case.width, 0, 3);
  halo->exchange(Space(), field->view());
  EXPECT_EQ(on_all_ranks(count_wrong(*field, grid_, start_case, 0, 3)), 0);
}

TEST_P(StartFinish, MayBeMadeAndGivenUpManyTimes) {
  for (int round = 0; round < 40; ++round) {
    HaloExchange halo = make(u_);
    fill(u_, grid_, start_case.width, 0, round);
    halo.exchange(Space(), u_.view());
    ASSERT_EQ(count_wrong(u_, grid_, start_case, 0, round), 0);
  }
}

std::string name_of_transport(const testing::TestParamInfo<Transport>& info) {
  return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(EveryTransport, StartFinish, testing::ValuesIn(carrying_transports()),
                         name_of_transport);

TEST(StartFinishTransports, AreRefusedWhereTheyDontRun) {
  expect_other_transports_refused();
}

/// Ranks that call one HaloExchange differently must not take each other's bytes for theirs. A proxy carries each View by
/// itself and compares nothing; of more than two ranks, some neighbours call it alike.
std::vector<Transport> comparing_transports() {
  return this_job().ranks() == 2 && !is_carried_by_proxy() ? carrying_transports() : std::vector<Transport>();
}

class DifferentCalls : public testing::TestWithParam<Transport> {};

TEST_P(DifferentCalls, AreAnErrorThatNamesTheRank) {
  const Context context(MPI_COMM_WORLD);
  if (is_refused(context, GetParam())) GTEST_SKIP() << "MPI refuses GPU memory";
  const Grid<1> grid(context, {.cells = {20}});
  const auto u = grid.allocate<double>("u", 1);
  const auto v = grid.allocate<double>("v", 1);
  HaloExchange halo(Space(), grid, {.width = 1, .transport = GetParam()}, u, v);
  const auto error = outcome_of(halo, [&] {
    if (grid.rank() == 0) {
      halo.exchange(Space(), u);
    } else {
      halo.exchange(Space(), u, v);
    }
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(to_string(error->kind()), "usage") << error->message();
  EXPECT_NE(error->message().find("ranks call one HaloExchange differently: in epoch 1 rank " +
                                  std::to_string(1 - grid.rank())),
            std::string::npos)
      << error->message();
  const bool is_over_messages = error->message().find("Views 0, 1") == std::string::npos;
  EXPECT_EQ(is_over_messages, GetParam() == Transport::mpi_direct || GetParam() == Transport::mpi_staged)
      << error->message();
  MPI_Barrier(MPI_COMM_WORLD);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DifferentCalls);
INSTANTIATE_TEST_SUITE_P(EveryTransport, DifferentCalls, testing::ValuesIn(comparing_transports()),
                         name_of_transport);

TEST_P(StartFinish, LeavesTheGridsCommunicatorToItsUser) {
  HaloExchange halo = make(u_);
  fill(u_, grid_, start_case.width, 0, 1);
  // More tags than the library has taken by now, awaited before it sends anything.
  constexpr int tags = 1000;
  std::vector<int> received(tags, -1);
  std::vector<MPI_Request> requests(tags, MPI_REQUEST_NULL);
  for (int tag = 0; tag < tags; ++tag)
    MPI_Irecv(&received[tag], 1, MPI_INT, MPI_ANY_SOURCE, tag, grid_.comm(), &requests[tag]);
  halo.exchange(Space(), u_.view());
  Space().fence();
  EXPECT_EQ(on_all_ranks(count_wrong(u_, grid_, start_case, 0, 1)), 0);
  const int next = (grid_.rank() + 1) % grid_.size();
  for (int tag = 0; tag < tags; ++tag) MPI_Send(&tag, 1, MPI_INT, next, tag, grid_.comm());
  MPI_Waitall(tags, requests.data(), MPI_STATUSES_IGNORE);
  int wrong = 0;
  for (int tag = 0; tag < tags; ++tag) wrong += received[tag] == tag ? 0 : 1;
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace selvage::test
