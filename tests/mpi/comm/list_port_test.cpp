#include "list_fixture.hpp"

#include <selvage/comm/list_halo.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

/// What travels: odd in size, so that nothing rests on powers of two.
struct Ghost {
  double x;
  std::int32_t step;
  std::int32_t id;
  std::int64_t owner;
};
using Ghosts = Kokkos::View<Ghost*, Space::memory_space>;
using Port = ListPort<Ghost>;
using Policy = Kokkos::TeamPolicy<Space>;

/// Every team puts the entries that fall to it; some teams have none.
struct PutAll {
  Port port;
  Kokkos::View<int*, Space::memory_space> ids;
  std::int64_t rank;
  int step;

  KOKKOS_FUNCTION void operator()(const Policy::member_type& team) const {
    const auto turn = port.open(team);
    const auto entries = static_cast<int>(ids.extent(0));
    const int threads = team.league_size() * team.team_size();
    for (int place = team.league_rank() * team.team_size() + team.team_rank(); place < entries;
         place += threads)
      turn.put(place, {step * 1000.0 + ids(place) + rank / 8.0, step, ids(place), rank});
  }
};

/// Every other team waits and copies the ghosts that fall to it.
struct TakeAll {
  Port port;
  Ghosts ghosts;
  Kokkos::View<int*, Space::memory_space> waited;  ///< by team

  KOKKOS_FUNCTION void operator()(const Policy::member_type& team) const {
    const bool wanted = team.league_rank() % 2 == 0 && team.team_rank() == 0;
    const Ghost* const seen = port.await(team, wanted);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { waited(team.league_rank()) = seen != nullptr ? 1 : 0; });
    if (seen == nullptr) return;
    const auto count = static_cast<int>(ghosts.extent(0));
    const int half = (team.league_size() + 1) / 2;
    for (int i = team.league_rank() / 2 * team.team_size() + team.team_rank(); i < count;
         i += half * team.team_size())
      ghosts(i) = seen[i];
  }
};

/// Tells the peers, and looks at nothing.
struct AwaitNothing {
  Port port;
  KOKKOS_FUNCTION void operator()(const Policy::member_type& team) const {
    static_cast<void>(port.await(team, false));
  }
};

class ListPorts : public testing::Test {
 protected:
  static constexpr int threads = on_host ? 1 : 64;

  void SetUp() override {
    if (!this_job().is_on_one_host()) GTEST_SKIP() << "no peers across hosts";
  }
  [[nodiscard]] int rank() const { return context_.rank(); }
  [[nodiscard]] int size() const { return context_.size(); }
  [[nodiscard]] static ListHalo::Options options() {
    return {.transport = Transport::peer, .initiation = Initiation::kernel};
  }
  [[nodiscard]] ListHalo ring(const Context& context) const {
    return {Space(),
            context,
            10,
            on_device(std::vector<int>{0, 1, 2}),
            on_device(std::vector<int>(3, (rank() + 1) % size())),
            options()};
  }
  void put(const Port& port, const std::vector<int>& ids, int step) const {
    Kokkos::parallel_for("put", Policy(Space(), 7, threads), PutAll{port, on_device(ids), rank(), step});
  }
  [[nodiscard]] std::vector<Ghost> take(const Port& port, std::size_t count) const {
    const Ghosts ghosts("ghosts", count);
    Kokkos::deep_copy(ghosts, Ghost{-1, -1, -1, -1});
    const Kokkos::View<int*, Space::memory_space> waited("waited", 9);
    Kokkos::parallel_for("take", Policy(Space(), 9, threads), TakeAll{port, ghosts, waited});
    const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ghosts);
    const auto teams = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), waited);
    for (int team = 0; team < 9; ++team) EXPECT_EQ(teams(team), team % 2 == 0 ? 1 : 0);
    return {image.data(), image.data() + image.extent(0)};
  }
  [[nodiscard]] int count_wrong(const std::vector<Ghost>& seen, const std::vector<GhostOf>& expected,
                                int step) const {
    if (seen.size() != expected.size()) return 1;
    int wrong = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const GhostOf& of = expected[i];
      const bool same = seen[i].owner == of.rank && seen[i].id == of.id && seen[i].step == step &&
                        seen[i].x == step * 1000.0 + of.id + of.rank / 8.0;
      wrong += same ? 0 : 1;
    }
    return wrong;
  }

  const Context context_{MPI_COMM_WORLD};
};

/// Ranks run ahead of each other by what they do, and lists, also of none, change every few steps.
TEST_F(ListPorts, FillGhostsFromKernels) {
  RandomLists lists(size(), 0, 40, 2);
  SendList list = lists.of(rank());
  ListHalo halo(Space(), context_, list.owned, on_device(list.ids), on_device(list.ranks), options());
  Port port;
  int wrong = 0;
  for (int step = 0; step < 240; ++step) {
    if (step % 6 == 0) {
      lists = RandomLists(size(), static_cast<unsigned>(step / 6 % 13), step % 24 == 18 ? 400 : 40, 2);
      list = lists.of(rank());
      halo.rebuild(Space(), list.owned, on_device(list.ids), on_device(list.ranks));
      port = halo.device<Ghost>(Space());
    }
    if ((step * 7 + rank() * 5) % 11 == 0) usleep(200);
    put(port, list.ids, step);
    if ((step * 3 + rank() * 2) % 13 == 0) usleep(200);
    wrong += count_wrong(take(port, static_cast<std::size_t>(halo.ghosts())), lists.ghosts_of(rank()), step);
  }
  Space().fence();
  halo.check();
  EXPECT_EQ(on_all_ranks(wrong), 0);
}

/// Other calls of the list go on in between.
TEST_F(ListPorts, StandBesideGathers) {
  const RandomLists lists(size(), 3, 60, 2);
  const SendList list = lists.of(rank());
  ListHalo halo(Space(), context_, list.owned, on_device(list.ids), on_device(list.ranks), options());
  const auto port = halo.device<Ghost>(Space());
  const auto expected = lists.ghosts_of(rank());
  const auto ghosts = static_cast<int>(expected.size());
  using View = Kokkos::View<double*, Space::memory_space>;
  const Particles<View> x("x", list.owned + ghosts);
  int wrong = 0;
  for (int step = 0; step < 40; ++step) {
    // Of two launches that put the later one counts.
    if (step % 5 == 2) put(port, list.ids, -step);
    put(port, list.ids, step);
    wrong += count_wrong(take(port, expected.size()), expected, step);
    if (step % 3 != 0) continue;
    for (int i = 0; i < list.owned; ++i) x.image(i) = step + i + rank() / 8.0;
    x.to_device();
    halo.gather(Space(), x.view);
    x.to_host();
    for (int i = 0; i < ghosts; ++i)
      wrong += x.image(list.owned + i) == step + expected[i].id + expected[i].rank / 8.0 ? 0 : 1;
  }
  EXPECT_EQ(on_all_ranks(wrong), 0);
}

/// Rank 0 has ghosts of itself and makes launches that the others don't; where nobody has ghosts, nobody awaits any.
TEST_F(ListPorts, BeginAnewWithEachList) {
  const std::vector<int> none;
  ListHalo halo(Space(), context_, 10, on_device(none), on_device(none), options());
  for (int round = 0; round < 6; ++round) {
    const std::vector<int> alone = rank() == 0 && round % 2 == 1 ? std::vector<int>{4} : none;
    halo.rebuild(Space(), 10, on_device(alone), on_device(std::vector<int>(alone.size(), rank())));
    const auto own = halo.device<Ghost>(Space());
    for (int step = 0; step < (rank() == 0 ? 1 + round % 3 : round % 2); ++step) {
      put(own, alone, step);
      if (alone.empty()) {
        Kokkos::parallel_for("leave", Policy(Space(), 3, threads), AwaitNothing{own});
      } else {
        EXPECT_EQ(count_wrong(take(own, 1), {{0, 4, 0}}, step), 0);
      }
    }
    const std::vector<int> ids{0, 1, 2};
    halo.rebuild(Space(), 10, on_device(ids), on_device(std::vector<int>(3, (rank() + 1) % size())));
    const auto port = halo.device<Ghost>(Space());
    const int before = (rank() + size() - 1) % size();
    for (int step = 0; step < 4; ++step) {
      put(port, ids, step);
      EXPECT_EQ(count_wrong(take(port, 3), {{before, 0, 0}, {before, 1, 1}, {before, 2, 2}}, step), 0)
          << round;
    }
    Space().fence();
    halo.check();
  }
}

TEST_F(ListPorts, SayThatNothingWasAwaited) {
  ListHalo halo = ring(context_);
  const auto port = halo.device<Ghost>(Space());
  put(port, {0, 1, 2}, 1);
  Kokkos::parallel_for("leave", Policy(Space(), 3, threads), AwaitNothing{port});
  put(port, {0, 1, 2}, 2);
  Space().fence();
  const auto error = thrown_by([&] { halo.check(); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_EQ(error->message(), "kernels of rank " + std::to_string(rank()) +
                                  " put a list's ghosts again before any has awaited those of the launch "
                                  "before (epoch 1)");
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(ListPorts, NameTheRankThatIsLate) {
  if (size() == 1) GTEST_SKIP() << "nobody to wait for";
  const ShortTimeout limit;
  const Context context(MPI_COMM_WORLD);
  ListHalo halo = ring(context);
  const auto port = halo.device<Ghost>(Space());
  put(port, {0, 1, 2}, 1);
  static_cast<void>(take(port, 3));
  MPI_Barrier(MPI_COMM_WORLD);
  const bool is_late = rank() == size() - 1;
  if (!is_late) {
    put(port, {0, 1, 2}, 2);
    static_cast<void>(take(port, 3));
    Space().fence();
    const auto error = thrown_by([&] { halo.check(); });
    const bool waits_for_it = rank() == 0 || rank() == size() - 2;
    EXPECT_EQ(error.has_value(), waits_for_it);
    if (error) {
      EXPECT_EQ(error->kind(), ErrorKind::timeout);
      EXPECT_EQ(error->message(), "a kernel waited " + short_timeout_ms + " ms for rank " +
                                      std::to_string(size() - 1) +
                                      " (ListPort, ghosts of epoch 2 wanted, 1 seen)");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(ListPorts, RefuseGhostsOfOtherSizes) {
  if (size() == 1) GTEST_SKIP() << "for several ranks";
  ListHalo halo = ring(context_);
  const auto error = thrown_by([&] {
    if (rank() == 0) {
      static_cast<void>(halo.device<double>(Space()));
    } else {
      static_cast<void>(halo.device<Ghost>(Space()));
    }
  });
  const bool is_beside = rank() <= 1 || rank() == size() - 1;
  EXPECT_EQ(error.has_value(), is_beside);
  if (error) {
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    EXPECT_EQ(error->message().find("a list's ghosts are of "), 0U) << error->message();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Over messages, and, however they are carried, between hosts.
TEST(ListPortRefusals, SayWhereKernelsCantPut) {
  const Context context(MPI_COMM_WORLD);
  std::vector<ListHalo::Options> all{{.transport = Transport::mpi_staged}};
  if (!this_job().is_on_one_host()) all.push_back({.initiation = Initiation::kernel});
  for (const ListHalo::Options& options : all) {
    ListHalo halo(Space(), context, 1, on_device(std::vector<int>{0}),
                  on_device(std::vector<int>{context.rank()}), options);
    EXPECT_FALSE(halo.has_device());
    const auto error = thrown_by([&] { static_cast<void>(halo.device<Ghost>(Space())); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), ErrorKind::unsupported);
  }
}

}  // namespace
}  // namespace selvage::test
