#include "common/breakdown.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using selvage::app::Breakdown;
using Space = Kokkos::DefaultHostExecutionSpace;

std::vector<std::string> events;

void note_push(const char* name) {
  events.push_back(std::string("push ") + name);
}
void note_pop() {
  events.emplace_back("pop");
}
void note_fence(const char* name, std::uint32_t, std::uint64_t*) {
  // Kokkos fences for its tools as well.
  if (std::string_view(name).starts_with("selvage")) events.push_back(std::string("fence ") + name);
}
void note_kernel(const char* name, std::uint32_t, std::uint64_t*) {
  events.push_back(std::string("kernel ") + name);
}

/// Listens to Kokkos Tools while it lives.
class Listener {
 public:
  Listener() {
    events.clear();
    set(note_push, note_pop, note_fence, note_kernel);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { set(nullptr, nullptr, nullptr, nullptr); }

 private:
  static void set(Kokkos_Profiling_pushFunction push, Kokkos_Profiling_popFunction pop,
                  Kokkos_Profiling_beginFenceFunction fence, Kokkos_Profiling_beginFunction kernel) {
    using namespace Kokkos::Tools::Experimental;
    set_push_region_callback(push);
    set_pop_region_callback(pop);
    set_begin_fence_callback(fence);
    set_begin_parallel_for_callback(kernel);
  }
};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST(Breakdown, GivesLeastMeanAndMostOverTheRanks) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Breakdown breakdown("demo", true);
  const auto halo = breakdown.phase("halo");
  const auto norm = breakdown.phase("norm");
  breakdown.add(halo, rank + 1, 2);
  breakdown.add(halo, rank + 1, 3);
  breakdown.add(norm, 0.5);
  const auto rows = breakdown.gather(MPI_COMM_WORLD);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "halo");
  EXPECT_EQ(rows[0].calls, 5);
  EXPECT_DOUBLE_EQ(rows[0].min_s, 2.0);
  EXPECT_DOUBLE_EQ(rows[0].avg_s, 1.0 + ranks);
  EXPECT_DOUBLE_EQ(rows[0].max_s, 2.0 * ranks);
  EXPECT_EQ(rows[1].name, "norm");
  EXPECT_DOUBLE_EQ(rows[1].avg_s, 0.5);
}

TEST(Breakdown, FindsAPhaseByItsName) {
  Breakdown breakdown("demo", true);
  const auto halo = breakdown.phase("halo");
  EXPECT_EQ(breakdown.phase("halo"), halo);
  EXPECT_NE(breakdown.phase("norm"), halo);
}

struct Nothing {
  KOKKOS_FUNCTION void operator()(int) const {}
};

/// Nothing that was begun before, or ends after, is counted: the instance is fenced on both sides.
TEST(Breakdown, FencesAHostOnBothSidesOfAPhase) {
  const Listener listener;
  Breakdown breakdown("demo", true);
  const auto halo = breakdown.phase("halo");
  for (int i = 0; i < 2; ++i) {
    const auto timer = breakdown.time(Space(), halo);
    Kokkos::parallel_for("work", Kokkos::RangePolicy<Space>(0, 1), Nothing());
  }
  const std::vector<std::string> once{"push demo::halo", "fence selvage: before a timed phase", "kernel work",
                                      "fence selvage: after a timed phase", "pop"};
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(events, twice);
}

/// What lies within a phase takes no longer than it, and what it lies within no less, however busy the machine is.
TEST(Breakdown, CountsAndTimesEachCall) {
  Breakdown breakdown("demo", true);
  const auto first = breakdown.phase("first");
  const auto second = breakdown.phase("second");
  const std::array phases{first, second};
  std::array within{0.0, 0.0};
  std::array around{0.0, 0.0};
  for (int i = 0; i < 6; ++i) {
    const std::size_t which = i % 3 == 0 ? 0 : 1;
    const auto outer = Clock::now();
    {
      const auto timer = breakdown.time(Space(), phases[which]);
      const auto inner = Clock::now();
      while (Clock::now() == inner) continue;
      within[which] += seconds_since(inner);
    }
    around[which] += seconds_since(outer);
  }
  const auto rows = breakdown.gather(MPI_COMM_SELF);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[1].calls, 4);
  for (const std::size_t which : {0, 1}) {
    EXPECT_GE(rows[which].max_s, within[which]);
    EXPECT_LE(rows[which].max_s, around[which]);
    EXPECT_EQ(rows[which].max_s, breakdown.seconds(phases[which]));
  }
}

constexpr auto spin_time = std::chrono::milliseconds(2);

/// Ends after that time, on a GPU of up to 3 GHz. A functor, since a lambda whose body differs between host and device
/// captures differently.
struct Spin {
  KOKKOS_FUNCTION void operator()(int) const {
    KOKKOS_IF_ON_DEVICE((constexpr long long cycles = 6'000'000; const long long begin = clock64();
                         while (clock64() - begin < cycles) continue;))
    KOKKOS_IF_ON_HOST((const auto begin = Clock::now(); while (Clock::now() - begin < spin_time) continue;))
  }
};

/// A kernel that is still running when the phase ends, as on a GPU, counts in full, and in no other phase.
TEST(Breakdown, TimesWhatAnInstanceDoesInAPhase) {
  using Instance = Kokkos::DefaultExecutionSpace;
  Breakdown breakdown("demo", true);
  const auto busy = breakdown.phase("busy");
  const auto idle = breakdown.phase("idle");
  const auto begin = Clock::now();
  for (int i = 0; i < 3; ++i) {
    {
      const auto timer = breakdown.time(Instance(), busy);
      Kokkos::parallel_for(Kokkos::RangePolicy<Instance>(0, 1), Spin());
    }
    const auto timer = breakdown.time(Instance(), idle);
  }
  Instance().fence();
  const double whole = seconds_since(begin);
  // A GPU's events tick by other clocks than its kernels, but not by so much.
  const double least = 3 * 0.99 * std::chrono::duration<double>(spin_time).count();
  EXPECT_GE(breakdown.seconds(busy), least);
  EXPECT_GE(breakdown.seconds(idle), 0.0);
  EXPECT_LE(breakdown.seconds(busy) + breakdown.seconds(idle), 1.01 * whole);
  EXPECT_LE(breakdown.seconds(idle), 1.01 * whole - least);
  const double before = breakdown.seconds(busy);
  {
    const auto timer = breakdown.time(Instance(), busy);
    Kokkos::parallel_for(Kokkos::RangePolicy<Instance>(0, 1), Spin());
  }
  EXPECT_GE(breakdown.seconds(busy), before + least / 3);
  const auto rows = breakdown.gather(MPI_COMM_SELF);
  EXPECT_EQ(rows[0].calls, 4);
  EXPECT_EQ(rows[1].calls, 3);
}

TEST(Breakdown, OnlyMarksRegionsWhereItDoesNotMeasure) {
  const Listener listener;
  Breakdown breakdown("demo", false);
  const auto halo = breakdown.phase("halo");
  { const auto timer = breakdown.time(Space(), halo); }
  EXPECT_EQ(events, (std::vector<std::string>{"push demo::halo", "pop"}));
  EXPECT_EQ(breakdown.gather(MPI_COMM_SELF)[0].calls, 0);
}

}  // namespace
