#include "halo_slabs.hpp"
#include "thrown.hpp"

#include <unistd.h>

#include <string>
#include <utility>

namespace selvage::test {
namespace {

template <class Kind>
void expect_kernels_fill_ghosts(const Context& context, const HaloCase<Kind::D>& halo_case, GhostReuse reuse,
                                Home home = Home::shared) {
  constexpr int D = Kind::D;
  const Grid<D> grid(context, {.cells = halo_case.cells, .periodic = halo_case.periodic});
  const TestField<Kind> u(grid, halo_case.width, home);
  const TestField<Kind> v(grid, halo_case.width, Home::shared);
  const Space space;
  HaloExchange halo(space, grid,
                    {.width = halo_case.width, .corners = halo_case.corners, .ghost_reuse = reuse}, u.view(),
                    v.view());
  const HaloPort port = halo.device(space, u.view(), v.view());
  const Slabs<D> slabs(grid, halo_case.width);
  fill(u, grid, halo_case.width, 0, 0);
  for (int round = 0; round < 4; ++round) {
    const auto& field = round % 2 == 0 ? u : v;
    fill(round % 2 == 0 ? v : u, grid, halo_case.width, 0, round + 1);
    Kokkos::parallel_for("test::put", Policy(space, slabs.count(), team_size),
                         PutSlabs<D>{port, slabs, round % 2});
    halo.await(space, port);
    space.fence();
    ASSERT_NO_THROW(halo.check());
    const int wrong = on_all_ranks(count_wrong(field, grid, halo_case, 0, round));
    ASSERT_EQ(wrong, 0) << halo_case.name << ", round " << round;
  }
}

template <int D, class T, class Layout, int components>
void expect_kernels_fill_ghosts_in(const Context& context, const HaloCase<D>& halo_case) {
  for (const GhostReuse reuse : {GhostReuse::credit, GhostReuse::alternating})
    expect_kernels_fill_ghosts<FieldKind<D, T, Layout, components>>(context, halo_case, reuse);
}

template <int D>
void expect_exact_for_all_kinds(const HaloCase<D>& halo_case) {
  const Context context(MPI_COMM_WORLD);
  expect_kernels_fill_ghosts_in<D, double, Kokkos::LayoutRight, 0>(context, halo_case);
  expect_kernels_fill_ghosts_in<D, double, Kokkos::LayoutLeft, 2>(context, halo_case);
  expect_kernels_fill_ghosts_in<D, float, Kokkos::LayoutStride, 3>(context, halo_case);
  expect_kernels_fill_ghosts_in<D, std::int16_t, Kokkos::LayoutLeft, 0>(context, halo_case);
  expect_kernels_fill_ghosts_in<D, Kokkos::complex<double>, Kokkos::LayoutRight, 0>(context, halo_case);
}

TEST(HaloPort, FillsGhostsIn1D) {
  expect_exact_for_all_kinds<1>({"ring", {50}, {true}, 1});
  expect_exact_for_all_kinds<1>({"line, wide", {67}, {false}, 3});
}

TEST(HaloPort, FillsGhostsIn2D) {
  expect_exact_for_all_kinds<2>({"torus", {25, 22}, {true, true}, 1});
  expect_exact_for_all_kinds<2>({"faces only", {19, 26}, {true, false}, 2, false});
  expect_exact_for_all_kinds<2>({"one-sided widths", {24, 23}, {true, true}, Width<2>{{2, 1}, {0, 3}}});
}

TEST(HaloPort, FillsGhostsIn3D) {
  expect_exact_for_all_kinds<3>({"torus", {13, 12, 16}, {true, true, true}, 1});
  expect_exact_for_all_kinds<3>({"box", {14, 11, 12}, {false, false, false}, 2});
}

// MPI carries long blocks in other ways than short ones.
TEST(HaloPort, FillsWideGhosts) {
  const Context context(MPI_COMM_WORLD);
  for (const GhostReuse reuse : {GhostReuse::credit, GhostReuse::alternating}) {
    using Kind = FieldKind<1, Kokkos::complex<double>, Kokkos::LayoutLeft, 3>;
    expect_kernels_fill_ghosts<Kind>(context, {"ring, very wide", {20'000}, {true}, 2'000}, reuse);
  }
}

// Neither do messages need Views that others can map, nor is one such View a reason against the others' form.
TEST(HaloPort, FillsGhostsOfMemoryThatCannotBeMapped) {
  const Context context(MPI_COMM_WORLD);
  const HaloCase<2> halo_case{"torus", {21, 24}, {true, true}, 2};
  for (const GhostReuse reuse : {GhostReuse::credit, GhostReuse::alternating}) {
    using Kind = FieldKind<2, double, Kokkos::LayoutLeft, 2>;
    expect_kernels_fill_ghosts<Kind>(context, halo_case, reuse, Home::heap);
  }
}

TEST(HaloPort, SaysWhoIsReachedByProxy) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {8 * context.size()}});
  const bool has_left = grid.neighbour({-1}) != Grid<1>::no_neighbour;
  const auto line = [&](HaloExchange& halo, const auto& view) {
    const std::string before = halo.explain();
    static_cast<void>(halo.device(Space(), view));
    const std::string after = halo.explain();
    EXPECT_TRUE(after.starts_with(before)) << after;
    return after.substr(before.size());
  };
  const auto shared = grid.allocate<double>("u", 1);
  HaloExchange mapped(Space(), grid, {.width = 1}, shared);
  const std::string first = line(mapped, shared);
  EXPECT_EQ(first.find("port 0: rank ") != std::string::npos, context.size() > 1) << first;
  const bool is_close = mapped.explain().find("peer, ") != std::string::npos;
  EXPECT_EQ(first.find(" directly\n") != std::string::npos, is_close) << mapped.explain();
  const Kokkos::View<double*, Space::memory_space> heap("heap", shared.extent(0));
  HaloExchange packed(Space(), grid, {.width = 1}, heap);
  const std::string second = line(packed, heap);
  if (on_host && has_left) {
    EXPECT_NE(second.find(" by proxy; "), std::string::npos) << second;
  }
}

using Line = Kokkos::View<double*, Space::memory_space>;

/// The ways of a kernel to send.
enum class Sending { puts, tiles, stores };

/// One team that makes many steps in one launch: puts, waits, and checks what came, in alternating Views.
struct ManySteps {
  HaloPort port;
  Line u, v;
  Kokkos::View<int, Space::memory_space> wrong;
  std::int64_t first, cells, all;
  std::uint64_t steps;
  Sending sending;

  KOKKOS_FUNCTION static double value(std::uint64_t step, std::int64_t cell) {
    return static_cast<double>(step) * 1000 + static_cast<double>(cell);
  }

  KOKKOS_FUNCTION void send(const HaloPort::Launch& turn, const Member& team, std::uint64_t step) const {
    const int view = static_cast<int>(step % 2);
    const HaloPort::Box all_own{.begin = {1, 0, 0}, .end = {cells + 1, 1, 1}};
    if (sending == Sending::puts) {
      turn.put(team, view, all_own, step);
      return;
    }
    if (sending == Sending::tiles) {
      turn.put_tiles(team, step, port.tile(view, {-1}, all_own), port.tile(view, {1}, all_own));
      return;
    }
    for (const int side : {-1, 1}) {
      const HaloPort::Towards towards{side};
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        turn.await_credit(towards, step);
        port.remote_ghosts<double>(view, towards)(side < 0 ? 1 : cells) =
            value(step, first + (side < 0 ? 0 : cells - 1));
      });
      turn.fire(team, view, towards, 1, step);
    }
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto turn = port.open(team);
    for (std::uint64_t step = 1; step <= steps; ++step) {
      const Line& field = step % 2 == 0 ? u : v;
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, cells),
                           [&](std::int64_t i) { field(i + 1) = value(step, first + i); });
      team.team_barrier();
      send(turn, team, step);
      if (!turn.wait_all(team, step)) break;
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        if (field(0) != value(step, (first - 1 + all) % all)) ++wrong();
        if (field(cells + 1) != value(step, (first + cells) % all)) ++wrong();
      });
      team.team_barrier();
    }
    turn.close(team, steps);
  }
};

void expect_many_steps(Sending sending) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {5 * context.size() + 1}, .periodic = {true}});
  const Space space;
  const auto u = grid.allocate<double>("u", 1);
  const auto v = grid.allocate<double>("v", 1);
  HaloExchange halo(space, grid, {.ghost_reuse = GhostReuse::alternating}, u, v);
  const HaloPort port = halo.device(space, u, v);
  const Kokkos::View<int, Space::memory_space> wrong("wrong");
  for (const std::uint64_t steps : {300, 1, 2, 301}) {
    Kokkos::parallel_for("test::steps", Policy(space, 1, team_size),
                         ManySteps{port, u, v, wrong, grid.box().begin[0], grid.box().extent(0),
                                   grid.cells()[0], steps, sending});
    halo.await(space, port);
    space.fence();
    ASSERT_NO_THROW(halo.check());
    // A launch begins with the View that the one before didn't end with only where its steps were even.
    MPI_Barrier(grid.comm());
  }
  int count = -1;
  Kokkos::deep_copy(count, wrong);
  EXPECT_EQ(on_all_ranks(count), 0);
}

/// Puts the boundary of the View with number 1.
struct PutSecond {
  HaloPort port;
  std::int64_t cells;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto launch = port.open(team);
    HaloPort::Box box;
    box.begin[0] = 1;
    box.end[0] = 1 + cells;
    static_cast<void>(launch.put(team, 1, box));
    launch.close(team);
  }
};

/// What comes between two exchanges of alternating Views must not let the later one overwrite ghosts that are still read.
template <class Between>
void expect_ghosts_kept(const Between& between) {
  const Context context(MPI_COMM_WORLD);
  const Space space;
  const Grid<1> grid(context, {.cells = {10 * context.size()}, .periodic = {true}, .reorder = false});
  const auto u = grid.allocate<double>("u", 1);
  const auto v = grid.allocate<double>("v", 1);
  HaloExchange halo(space, grid, {.ghost_reuse = GhostReuse::alternating}, u, v);
  const auto set = [&](int turn) {
    Kokkos::deep_copy(u, turn * 100 + context.rank());
    Kokkos::deep_copy(v, turn * 100 + context.rank());
  };
  const auto first_ghost = [](const auto& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view)(0);
  };
  const int before = (context.rank() + context.size() - 1) % context.size();
  set(1);
  const auto again = between(space, halo, u, v);
  space.fence();
  MPI_Barrier(MPI_COMM_WORLD);
  const bool is_late = context.rank() % 2 == 1;
  if (is_late) {
    usleep(100'000);
    EXPECT_EQ(first_ghost(again), 100 + before);
  }
  const auto owned = Kokkos::subview(again, std::pair{1, 11});
  Kokkos::deep_copy(owned, 200 + context.rank());
  halo.exchange(space, again);
  EXPECT_EQ(first_ghost(again), 200 + before);
}

TEST(HaloPort, LetsAnExchangeAwaitThatItsGhostsAreRead) {
  expect_ghosts_kept([](const Space& space, HaloExchange& halo, const auto& u, const auto& v) {
    halo.exchange(space, u);
    const HaloPort port = halo.device(space, u, v);
    Kokkos::parallel_for("test::put", Policy(space, 1, team_size), PutSecond{port, 10});
    halo.await(space, port);
    return v;
  });
}
TEST(HaloReduce, LetsAnExchangeAwaitThatItsGhostsAreRead) {
  expect_ghosts_kept([](const Space& space, HaloExchange& halo, const auto& u, const auto& v) {
    halo.exchange(space, u);
    halo.reduce(space, ReduceOperation::sum, v);
    return u;
  });
}

TEST(HaloPort, MakesManyStepsInOneLaunch) {
  expect_many_steps(Sending::puts);
}
TEST(HaloPort, MakesManyStepsWithParcels) {
  expect_many_steps(Sending::tiles);
}
TEST(HaloPort, LetsKernelsStoreIntoGhostsThemselves) {
  expect_many_steps(Sending::stores);
}

/// Many steps of one View in one launch: a credit for each.
struct StepsOfOneView {
  HaloPort port;
  Line u;
  Kokkos::View<int, Space::memory_space> wrong;
  std::int64_t first, cells, all;
  std::uint64_t steps;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto turn = port.open(team);
    for (std::uint64_t step = 1; step <= steps; ++step) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, cells),
                           [&](std::int64_t i) { u(i + 1) = ManySteps::value(step, first + i); });
      team.team_barrier();
      if (!turn.put(team, 0, {.begin = {1, 0, 0}, .end = {cells + 1, 1, 1}}, step)) break;
      if (!turn.wait_all(team, step)) break;
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        if (u(0) != ManySteps::value(step, (first - 1 + all) % all)) ++wrong();
        if (u(cells + 1) != ManySteps::value(step, (first + cells) % all)) ++wrong();
        if (step == steps) return;
        turn.give_credit({-1}, step + 1);
        turn.give_credit({1}, step + 1);
      });
      team.team_barrier();
    }
    turn.close(team, steps);
  }
};

TEST(HaloPort, MakesManyStepsOfOneViewWithCredits) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {7 * context.size() + 2}, .periodic = {true}});
  const Space space;
  const auto u = grid.allocate<double>("u", 1);
  HaloExchange halo(space, grid, {.width = 1}, u);
  const HaloPort port = halo.device(space, u);
  const Kokkos::View<int, Space::memory_space> wrong("wrong");
  for (const std::uint64_t steps : {300, 1, 299}) {
    Kokkos::parallel_for(
        "test::steps", Policy(space, 1, team_size),
        StepsOfOneView{port, u, wrong, grid.box().begin[0], grid.box().extent(0), grid.cells()[0], steps});
    space.fence();
    ASSERT_NO_THROW(halo.check());
  }
  int count = -1;
  Kokkos::deep_copy(count, wrong);
  EXPECT_EQ(on_all_ranks(count), 0);
}

// Traffic one way proves nothing to who sends: credits alone keep it from running ahead.
TEST(HaloPort, LetsNobodyRunAheadOneWay) {
  const Context context(MPI_COMM_WORLD);
  const HaloCase<1> halo_case{"ring, one way", {11 * context.size()}, {true}, Width<1>{{2, 0}}};
  const Grid<1> grid(context, {.cells = halo_case.cells, .periodic = halo_case.periodic});
  using Kind = FieldKind<1, double, Kokkos::LayoutRight, 0>;
  const TestField<Kind> u(grid, halo_case.width, Home::shared);
  const Space space;
  HaloExchange halo(space, grid, {.width = halo_case.width}, u.view());
  const HaloPort port = halo.device(space, u.view());
  const Slabs<1> slabs(grid, halo_case.width);
  for (int round = 0; round < 40; ++round) {
    fill(u, grid, halo_case.width, 0, round);
    Kokkos::parallel_for("test::put", Policy(space, slabs.count(), team_size), PutSlabs<1>{port, slabs, 0});
    if (round % 8 == 7) {
      halo.await(space, port);
      space.fence();
      ASSERT_EQ(on_all_ranks(count_wrong(u, grid, halo_case, 0, round)), 0) << "round " << round;
    }
    space.fence();
    ASSERT_NO_THROW(halo.check());
  }
}

TEST(HaloPort, TakesTurnsWithExchanges) {
  const Context context(MPI_COMM_WORLD);
  const HaloCase<2> halo_case{"torus", {20, 21}, {true, true}, 1};
  const Grid<2> grid(context, {.cells = halo_case.cells, .periodic = halo_case.periodic});
  using Kind = FieldKind<2, double, Kokkos::LayoutRight, 0>;
  const TestField<Kind> u(grid, 1, Home::shared);
  const Space space;
  HaloExchange halo(space, grid, {.width = 1}, u.view());
  const HaloPort port = halo.device(space, u.view());
  const Slabs<2> slabs(grid, halo_case.width);
  for (int round = 0; round < 6; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    fill(u, grid, halo_case.width, 0, round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (round % 2 == 0) {
      halo.exchange(space, u.view());
    } else {
      Kokkos::parallel_for("test::put", Policy(space, slabs.count(), team_size), PutSlabs<2>{port, slabs, 0});
      halo.await(space, port);
    }
    space.fence();
    ASSERT_EQ(on_all_ranks(count_wrong(u, grid, halo_case, 0, round)), 0) << "round " << round;
  }
}

}  // namespace
}  // namespace selvage::test
