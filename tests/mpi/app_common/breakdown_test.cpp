#include "common/breakdown.hpp"

#include <gtest/gtest.h>

#include <string>
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

/// Listens to Kokkos Tools regions while it lives.
class RegionListener {
 public:
  RegionListener() {
    events.clear();
    Kokkos::Tools::Experimental::set_push_region_callback(note_push);
    Kokkos::Tools::Experimental::set_pop_region_callback(note_pop);
  }
  ~RegionListener() {
    Kokkos::Tools::Experimental::set_push_region_callback(nullptr);
    Kokkos::Tools::Experimental::set_pop_region_callback(nullptr);
  }
};

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

TEST(Breakdown, CountsAndTimesEachCall) {
  Breakdown breakdown("demo", true);
  const auto halo = breakdown.phase("halo");
  for (int i = 0; i < 3; ++i) {
    const auto timer = breakdown.time(Space(), halo);
  }
  const auto rows = breakdown.gather(MPI_COMM_SELF);
  EXPECT_EQ(rows[0].calls, 3);
  EXPECT_GT(rows[0].max_s, 0.0);
}

/// Long enough to be told from nothing, on a host and on a GPU.
struct Spin {
  Kokkos::View<double*> result;
  KOKKOS_FUNCTION void operator()(int i) const {
    double value = i;
    for (int k = 0; k < 2'000'000; ++k) value = value * 0.999 + 0.5;
    result(i) = value;
  }
};

TEST(Breakdown, TimesWhatAnInstanceDoesInAPhase) {
  using Instance = Kokkos::DefaultExecutionSpace;
  const Kokkos::View<double*> result("result", 4);
  Breakdown breakdown("demo", true);
  const auto busy = breakdown.phase("busy");
  const auto idle = breakdown.phase("idle");
  for (int i = 0; i < 3; ++i) {
    {
      const auto timer = breakdown.time(Instance(), busy);
      Kokkos::parallel_for(Kokkos::RangePolicy<Instance>(0, 4), Spin{result});
    }
    const auto timer = breakdown.time(Instance(), idle);
  }
  EXPECT_GT(breakdown.seconds(busy), 10 * breakdown.seconds(idle));
  EXPECT_GT(breakdown.seconds(idle), 0.0);
  const double before = breakdown.seconds(busy);
  { const auto timer = breakdown.time(Instance(), busy); }
  EXPECT_GT(breakdown.seconds(busy), before);
  EXPECT_EQ(breakdown.gather(MPI_COMM_SELF)[0].calls, 4);
}

TEST(Breakdown, OnlyMarksRegionsWhereItDoesNotMeasure) {
  const RegionListener listener;
  Breakdown breakdown("demo", false);
  const auto halo = breakdown.phase("halo");
  { const auto timer = breakdown.time(Space(), halo); }
  EXPECT_EQ(events, (std::vector<std::string>{"push demo::halo", "pop"}));
  EXPECT_EQ(breakdown.gather(MPI_COMM_SELF)[0].calls, 0);
}

}  // namespace
