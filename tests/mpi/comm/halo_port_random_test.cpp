#include "halo_slabs.hpp"

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace selvage::test {
namespace {

using Dice = std::mt19937;
int roll(Dice& dice, int most) {
  return std::uniform_int_distribution<int>(0, most)(dice);
}

/// Boxes that tile a rank's own cells however they come, and which of them each team puts.
struct Tiles {
  Kokkos::View<HaloPort::Box*, Space::memory_space> boxes;
  Kokkos::View<int*, Space::memory_space> first;  ///< by team, and the end
  [[nodiscard]] int teams() const { return static_cast<int>(first.extent(0)) - 1; }
};

template <int D>
std::vector<HaloPort::Box> random_boxes(Dice& dice, const HaloPort::Box& whole) {
  std::vector<HaloPort::Box> boxes{whole};
  for (int cuts = roll(dice, 12); cuts > 0; --cuts) {
    HaloPort::Box& lower = boxes[roll(dice, static_cast<int>(boxes.size()) - 1)];
    const int axis = roll(dice, D - 1);
    const auto extent = static_cast<int>(lower.end[axis] - lower.begin[axis]);
    if (extent < 2) continue;
    HaloPort::Box upper = lower;
    upper.begin[axis] = lower.end[axis] = lower.begin[axis] + 1 + roll(dice, extent - 2);
    boxes.push_back(upper);
  }
  std::ranges::shuffle(boxes, dice);
  return boxes;
}

template <int D>
Tiles random_tiles(Dice& dice, const HaloPort::Box& whole, bool by_one_team) {
  const std::vector<HaloPort::Box> boxes = random_boxes<D>(dice, whole);
  const auto count = static_cast<int>(boxes.size());
  const int teams = by_one_team ? 1 : 1 + roll(dice, count + 1);  // some have nothing to put
  const Tiles tiles{decltype(Tiles::boxes)("boxes", boxes.size()),
                    decltype(Tiles::first)("first", teams + 1)};
  const auto box_image = Kokkos::create_mirror_view(tiles.boxes);
  const auto first_image = Kokkos::create_mirror_view(tiles.first);
  for (int i = 0; i < count; ++i) box_image(i) = boxes[i];
  for (int team = 0; team < teams; ++team) first_image(team) = team == 0 ? 0 : roll(dice, count);
  first_image(teams) = count;
  std::sort(first_image.data(), first_image.data() + teams);
  Kokkos::deep_copy(tiles.boxes, box_image);
  Kokkos::deep_copy(tiles.first, first_image);
  return tiles;
}

/// Puts two Views in turn; with several steps, by one team.
struct PutTiles {
  HaloPort port;
  Tiles tiles;
  int view;  ///< of the first step
  std::uint64_t steps;

  KOKKOS_FUNCTION void put(const HaloPort::Launch& turn, const Member& team, std::uint64_t step) const {
    for (int i = tiles.first(team.league_rank()); i < tiles.first(team.league_rank() + 1); ++i)
      turn.put(team, static_cast<int>((view + step - 1) % 2), tiles.boxes(i), step);
  }
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto turn = port.open(team);
    put(turn, team, 1);
    for (std::uint64_t step = 2; step <= steps; ++step) {
      turn.wait_all(team, step - 1);
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        for (int code = 0; code < 27; ++code)
          turn.give_credit({code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1}, step);
      });
      put(turn, team, step);
    }
    turn.close(team, steps);
  }
};

template <class Kind>
std::vector<typename Kind::T> elements_of(const TestField<Kind>& field) {
  field.to_host();
  const auto image = field.host();
  std::vector<typename Kind::T> elements;
  for_each_index(field.extents(), [&](const Index& index) { elements.push_back(element(image, index)); });
  return elements;
}

/// What all ranks draw alike.
template <int D>
HaloCase<D> random_case(Dice& dice, int ranks) {
  constexpr int widest = D == 3 ? 2 : 3;
  HaloCase<D> halo_case{"random", {}, {}, 0, roll(dice, 3) > 0};
  for (int axis = 0; axis < D; ++axis) {
    halo_case.cells[axis] = widest * ranks + roll(dice, 9);
    halo_case.periodic[axis] = roll(dice, 1) == 1;
    halo_case.width[axis] = {roll(dice, widest), roll(dice, widest)};
  }
  return halo_case;
}

/// One grid: launches by new tiles each, against what the plain exchange leaves in the same Views.
template <class First, class Second>
void expect_as_exchanged(Dice& dice, const Context& context, const HaloCase<First::D>& halo_case) {
  constexpr int D = First::D;
  const Grid<D> grid(context, {.cells = halo_case.cells, .periodic = halo_case.periodic});
  const TestField<First> u(grid, halo_case.width, Home::shared);
  const TestField<Second> v(grid, halo_case.width, Home::shared);
  const Space space;
  HaloOptions<D> options{.width = halo_case.width, .corners = halo_case.corners};
  HaloExchange plain(space, grid, options, u.view(), v.view());
  options.ghost_reuse = roll(dice, 1) == 1 ? GhostReuse::alternating : GhostReuse::credit;
  HaloExchange halo(space, grid, options, u.view(), v.view());
  const HaloPort port = halo.device(space, u.view(), v.view());
  const Slabs<D> box(grid, halo_case.width);
  Dice own_dice(dice() + static_cast<unsigned>(context.rank()));
  int view = 0;
  for (int round = 0; round < 6; ++round) {
    const auto refill = [&] {
      MPI_Barrier(context.comm());
      fill(u, grid, halo_case.width, 0, round);
      fill(v, grid, halo_case.width, 1, round);
      MPI_Barrier(context.comm());
    };
    refill();
    const auto untouched_u = elements_of(u);
    const auto untouched_v = elements_of(v);
    plain.exchange(space, u.view(), v.view());
    space.fence();
    const auto exchanged_u = elements_of(u);
    const auto exchanged_v = elements_of(v);
    refill();
    const auto steps = static_cast<std::uint64_t>(round % 2 == 0 ? 1 : 1 + roll(dice, 3));
    const Tiles tiles = random_tiles<D>(own_dice, box.whole, steps > 1);
    // What neighbours put can arrive before the kernel of this rank begins.
    if (round % context.size() == context.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Kokkos::parallel_for("test::put", Policy(space, tiles.teams(), team_size),
                         PutTiles{port, tiles, view, steps});
    halo.await(space, port);
    space.fence();
    ASSERT_NO_THROW(halo.check());
    const bool both = steps > 1;
    const int wrong = (elements_of(u) == (both || view == 0 ? exchanged_u : untouched_u) ? 0 : 1) +
                      (elements_of(v) == (both || view == 1 ? exchanged_v : untouched_v) ? 0 : 1);
    ASSERT_EQ(on_all_ranks(wrong), 0) << "round " << round << ", " << steps << " steps\n" << halo.explain();
    view = static_cast<int>((view + steps) % 2);
  }
}

template <int D>
void expect_all_random_cases() {
  const Context context(MPI_COMM_WORLD);
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const auto halo_case = random_case<D>(dice, context.size());
    if (seed % 2 == 0) {
      expect_as_exchanged<FieldKind<D, double, Kokkos::LayoutRight, 0>,
                          FieldKind<D, float, Kokkos::LayoutStride, 3>>(dice, context, halo_case);
    } else {
      expect_as_exchanged<FieldKind<D, Kokkos::complex<double>, Kokkos::LayoutLeft, 2>,
                          FieldKind<D, std::int16_t, Kokkos::LayoutLeft, 0>>(dice, context, halo_case);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(RandomHaloPort, LeavesWhatAnExchangeLeavesIn1D) {
  expect_all_random_cases<1>();
}
TEST(RandomHaloPort, LeavesWhatAnExchangeLeavesIn2D) {
  expect_all_random_cases<2>();
}
TEST(RandomHaloPort, LeavesWhatAnExchangeLeavesIn3D) {
  expect_all_random_cases<3>();
}

}  // namespace
}  // namespace selvage::test
