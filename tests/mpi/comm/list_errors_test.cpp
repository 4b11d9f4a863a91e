#include "list_fixture.hpp"

#include <selvage/comm/list_halo.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

using Values = Kokkos::View<double*, Space::memory_space>;
using Pairs = Kokkos::View<double* [2], Space::memory_space>;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What kernels find is known when they have ended.
template <class... Fields>
void gather_and_check(ListHalo& halo, const Fields&... fields) {
  halo.gather(Space(), fields...);
  Space().fence();
  halo.check();
}

/// A ring in which each rank owns ten particles and sends the first three to the next rank.
class ListErrors : public ListForms {
 protected:
  [[nodiscard]] int after() const { return (rank() + 1) % size(); }
  [[nodiscard]] bool last() const { return rank() == size() - 1; }
  [[nodiscard]] std::string last_rank() const { return "rank " + std::to_string(size() - 1); }
  [[nodiscard]] ListHalo ring() const { return ring(context_); }
  [[nodiscard]] ListHalo ring(const Context& context) const {
    return {
        Space(),  context, 10, on_device(std::vector<int>{0, 1, 2}), on_device(std::vector<int>(3, after())),
        options()};
  }
  [[nodiscard]] std::string rebuild_error(const std::vector<int>& ids, const std::vector<int>& ranks) const {
    ListHalo halo = ring();
    const auto rebuild = [&] { halo.rebuild(Space(), 10, on_device(ids), on_device(ranks)); };
    // With named neighbours it is these that learn of it: all ranks, where there are few.
    if (!GetParam().names_neighbours || size() <= 2 * reach)
      return message_on_all_ranks(ErrorKind::usage, rebuild);
    const auto error = thrown_by(rebuild);
    MPI_Barrier(MPI_COMM_WORLD);
    return error ? error->message() : "";
  }
  void expect_from_last(const std::string& message, const std::string& expected) const {
    const int distance = std::min(after(), size() - 1 - rank());
    if (GetParam().names_neighbours && distance > reach) return;
    EXPECT_EQ(message, expected);
  }
};

class ListErrorsOfSeveralRanks : public ListErrors {};
/// With more, over MPI, a rank may wait for one that has nothing to send in the other call.
class ListErrorsOfTwoRanks : public ListErrors {};
/// Ranks that aren't neighbours, though these are named.
class ListErrorsOfFarRanks : public ListErrors {};

TEST_P(ListErrors, SayThatAFinishNeedsItsOwnStart) {
  ListHalo first = ring();
  ListHalo second = ring();
  const Values x("x", 13);
  const Values y("y", 13);
  auto of_first = first.start_gather(Space(), x);
  auto of_second = second.start_gather(Space(), y);
  const std::string wanted =
      "finish() needs what start_gather() or start_scatter_add() of the same ListHalo returned, once";
  const auto expect_refused = [&](ListHalo& halo, auto& pending) {
    const auto error = thrown_by([&] { halo.finish(Space(), std::move(pending)); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    EXPECT_EQ(error->message(), wanted);
  };
  expect_refused(second, of_first);
  first.finish(Space(), std::move(of_first));
  expect_refused(first, of_first);
  second.finish(Space(), std::move(of_second));
  auto again = first.start_gather(Space(), x);
  expect_refused(first, of_first);
  first.finish(Space(), std::move(again));
  Space().fence();
}

TEST_P(ListErrors, NameTheEntryThatIsNoParticle) {
  expect_from_last(rebuild_error({0, 9, last() ? 10 : 1}, std::vector<int>(3, after())),
                   "entry 2 of the list of " + last_rank() + " is particle 10, of 10");
  expect_from_last(rebuild_error({0, last() ? -1 : 1, 2}, std::vector<int>(3, after())),
                   "entry 1 of the list of " + last_rank() + " is particle -1, of 10");
}

TEST_P(ListErrors, NameTheEntryWhoseRankDoesntExist) {
  expect_from_last(rebuild_error({0, 1}, {last() ? size() : after(), after()}),
                   "entry 0 of the list of " + last_rank() + " is rank " + std::to_string(size()) + ", of " +
                       std::to_string(size()));
}

TEST_P(ListErrors, CountParticlesAndRanks) {
  std::vector<int> ranks(2, after());
  if (last()) ranks.pop_back();
  expect_from_last(rebuild_error({0, 1}, ranks),
                   "the list of " + last_rank() + " names 2 particles and 1 rank");
}

/// Its lists may be of two rebuilds.
TEST_P(ListErrors, EndAListWhoseRebuildWasRefused) {
  // With named neighbours only these learn of it.
  const bool learns = !GetParam().names_neighbours || std::min(after(), size() - 1 - rank()) <= reach;
  ListHalo halo = ring();
  const auto ids = on_device(std::vector<int>{7, 8, last() ? 99 : 9});
  const auto ranks = on_device(std::vector<int>(3, after()));
  EXPECT_EQ(thrown_by([&] { halo.rebuild(Space(), 10, ids, ranks); }).has_value(), learns);
  if (learns) {
    const Values x("x", 13);
    const auto error = thrown_by([&] { gather_and_check(halo, x); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    EXPECT_TRUE(contains(error->message(), "can't go on after an error: entry 2 of the list"))
        << error->message();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_P(ListErrorsOfFarRanks, RefuseARankThatIsNoNeighbour) {
  ListHalo halo = ring();
  const int far = (rank() + reach + 1) % size();
  const auto error = thrown_by(
      [&] { halo.rebuild(Space(), 10, on_device(std::vector<int>{4}), on_device(std::vector<int>{far})); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message(), "entry 0 of the list of rank " + std::to_string(rank()) + " is rank " +
                                  std::to_string(far) + ", which is none of its neighbours");
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_P(ListErrorsOfSeveralRanks, TellNeighboursWhichViewIsTooSmall) {
  ListHalo halo = ring();
  const Values x("x", last() ? 12 : 13);
  const auto gather = [&] { return thrown_by([&] { gather_and_check(halo, x); }); };
  const auto error = gather();
  if (last() || rank() == 0) {
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    EXPECT_EQ(error->message(), "View 0 (\"x\") has room for 12 particles on " + last_rank() +
                                    "; 10 owned and 3 ghosts need 13");
    const auto again = gather();
    ASSERT_TRUE(again.has_value());
    EXPECT_TRUE(contains(again->message(), "can't go on after an error: View 0")) << again->message();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_P(ListErrorsOfSeveralRanks, FindOtherFields) {
  ListHalo halo = ring();
  // More than a landing block's first size, on one side.
  const Values x("x", 13);
  const Pairs y("y", 13);
  const auto error = thrown_by([&] {
    if (last()) {
      gather_and_check(halo, x);
    } else {
      gather_and_check(halo, x, y);
    }
  });
  if (last() || rank() == 0) {
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), ErrorKind::usage) << error->what();
    EXPECT_TRUE(contains(error->message(), "ranks pass different fields to one gather: in epoch 2"))
        << error->what();
    EXPECT_TRUE(contains(error->message(), "bytes on rank ")) << error->what();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// One rank's message fits the landing block that there is, the other's doesn't.
TEST_P(ListErrorsOfTwoRanks, FindOtherFieldsWhereBlocksMustGrow) {
  constexpr int count = 300;
  const std::vector<int> ids(count, 1);
  ListHalo halo(Space(), context_, 10, on_device(ids), on_device(std::vector<int>(count, after())),
                options());
  const Kokkos::View<char*, Space::memory_space> small("small", 10 + count);
  const Pairs large("large", 10 + count);
  halo.gather(Space(), small);
  const auto error = thrown_by([&] {
    if (last()) {
      gather_and_check(halo, small);
    } else {
      gather_and_check(halo, large);
    }
  });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::usage) << error->what();
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_P(ListErrorsOfTwoRanks, FindOtherCalls) {
  ListHalo halo = ring();
  const Values x("x", 13);
  const auto error = thrown_by([&] {
    if (last()) {
      halo.scatter_add(Space(), x);
      Space().fence();
      halo.check();
    } else {
      gather_and_check(halo, x);
    }
  });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::usage) << error->what();
  // What this rank finds, or what the other one has found before and tells.
  const std::string start = "ranks call one list differently: in epoch 2 ";
  EXPECT_TRUE(error->message() == start + "rank 0 is in gather, its neighbour in scatter_add" ||
              error->message() == start + "rank 1 is in scatter_add, its neighbour in gather")
      << error->message();
  MPI_Barrier(MPI_COMM_WORLD);
}

INSTANTIATE_TEST_SUITE_P(EveryPath, ListErrors, running_list_forms(), name_of_form);

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ListErrorsOfSeveralRanks);
INSTANTIATE_TEST_SUITE_P(EveryPath, ListErrorsOfSeveralRanks, running_list_forms(this_job().ranks() > 1),
                         name_of_form);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ListErrorsOfTwoRanks);
INSTANTIATE_TEST_SUITE_P(EveryPath, ListErrorsOfTwoRanks, running_list_forms(this_job().ranks() == 2),
                         name_of_form);

std::vector<ListForm> forms_of_far_ranks() {
  if (this_job().ranks() < 2 * named_reach + 2) return {};
  return cases_where(every_list_form,
                     [](const ListForm& form) { return can_run(form) && form.names_neighbours; });
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ListErrorsOfFarRanks);
INSTANTIATE_TEST_SUITE_P(EveryPath, ListErrorsOfFarRanks, testing::ValuesIn(forms_of_far_ranks()),
                         name_of_form);

class ListChoices : public testing::Test {
 protected:
  [[nodiscard]] bool last() const { return context_.rank() == context_.size() - 1; }
  [[nodiscard]] ListHalo make(const ListHalo::Options& options) const {
    const int after = (context_.rank() + 1) % context_.size();
    return {Space(), context_, 10, on_device(std::vector<int>{1}), on_device(std::vector<int>{after}),
            options};
  }
  [[nodiscard]] std::string refusal(ErrorKind kind, const ListHalo::Options& options) const {
    return message_on_all_ranks(kind, [&] { const ListHalo halo = make(options); });
  }
  Context context_{MPI_COMM_WORLD};
};

TEST_F(ListChoices, RefuseWhatCarriesNoLists) {
  if (context_.size() == 1) GTEST_SKIP() << "nobody to reach";
  EXPECT_EQ(refusal(ErrorKind::unsupported, {.transport = Transport::copy_engine}),
            "transport copy_engine, forced by the option transport, carries no lists");
  EXPECT_EQ(
      refusal(ErrorKind::unsupported, {.transport = Transport::peer, .initiation = Initiation::queue}),
      "initiation queue, forced by the option initiation, is not possible over peer: kernels that reach "
      "the other rank's memory need no proxy");
  EXPECT_EQ(
      refusal(ErrorKind::unsupported, {.transport = Transport::mpi_staged, .initiation = Initiation::kernel}),
      "initiation kernel, forced by the option initiation, is not possible over mpi_staged: no kernel starts "
      "messages of lists");
}

TEST_F(ListChoices, FollowTheEnvironmentAndSaySo) {
  const ScopedVariable transport("SELVAGE_TRANSPORT", "mpi_staged");
  const ScopedVariable initiation("SELVAGE_INITIATION", "host");
  const ListHalo halo = make({});
  if (context_.size() == 1) return;
  EXPECT_TRUE(contains(halo.explain(), "mpi_staged, host, 1 out, ")) << halo.explain();
  EXPECT_TRUE(contains(halo.explain(), "forced by SELVAGE_TRANSPORT")) << halo.explain();
}

TEST_F(ListChoices, SayThatTheProxyCarriesThem) {
  const ScopedVariable initiation("SELVAGE_INITIATION", "queue");
  const ListHalo halo = make({});
  EXPECT_FALSE(halo.has_device());
  if (context_.size() == 1) return;
  EXPECT_TRUE(contains(halo.explain(), ", queue, 1 out, ")) << halo.explain();
  EXPECT_TRUE(contains(halo.explain(), "; not peer: ")) << halo.explain();
}

TEST_F(ListChoices, RefuseAProxyWithoutAThread) {
  if (context_.size() == 1) GTEST_SKIP() << "nobody to reach";
  context_ = Context(MPI_COMM_WORLD, {.service_threads = false});
  const std::string message = refusal(ErrorKind::unsupported, {.initiation = Initiation::queue});
  EXPECT_TRUE(contains(
      message, "initiation queue, forced by the option initiation, is not possible for lists with rank "))
      << message;
  EXPECT_TRUE(contains(message, "; not mpi_staged: the proxy has no thread: ContextOptions::service_threads"))
      << message;
}

TEST_F(ListChoices, ChoosePeersInsideAHostAndMpiBetween) {
  const ListHalo halo = make({});
  const int after = (context_.rank() + 1) % context_.size();
  if (context_.size() == 1) {
    EXPECT_TRUE(contains(halo.explain(), "rank 0: copy, 1 entries")) << halo.explain();
    return;
  }
  const bool is_peer = context_.machine().same_host(context_.rank(), after);
  EXPECT_EQ(contains(halo.explain(), "  rank " + std::to_string(after) + ": peer, stream"), is_peer)
      << halo.explain();
}

TEST_F(ListChoices, NameRanksWhoseOptionsDiffer) {
  if (context_.size() == 1) GTEST_SKIP() << "nobody to differ from";
  ListHalo::Options options;
  if (last()) options.initiation = Initiation::host;
  EXPECT_EQ(refusal(ErrorKind::usage, options),
            "ranks disagree on the option initiation of one ListHalo: rank 0 and rank " +
                std::to_string(context_.size() - 1));
}

TEST_F(ListChoices, RefuseNeighboursThatDontNameEachOther) {
  if (context_.size() == 1) GTEST_SKIP() << "nobody to name";
  ListHalo::Options options{.neighbours = std::vector<int>{}};
  if (last()) options.neighbours = std::vector<int>{0};
  EXPECT_EQ(refusal(ErrorKind::usage, options),
            "rank " + std::to_string(context_.size() - 1) +
                " names rank 0 as its neighbour, but not the other way round");
  options.neighbours = std::vector<int>{context_.size()};
  EXPECT_EQ(refusal(ErrorKind::usage, options), "rank 0 names rank " + std::to_string(context_.size()) +
                                                    " as its neighbour, of " +
                                                    std::to_string(context_.size()));
}

}  // namespace
}  // namespace selvage::test
