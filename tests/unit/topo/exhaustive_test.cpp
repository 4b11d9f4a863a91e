#include "placement/random.hpp"

#include <selvage/topo/placement.hpp>
#include <selvage/topo/simulation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace selvage::topo {
namespace {

Traffic random_traffic(int ranks, Random& random) {
  const std::uint64_t chance = 20 + random.below(70);
  std::vector<TrafficEntry> entries;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from != to && random.below(100) < chance)
        entries.push_back({from, to, {1 + random.below(1000), 1}, {}});
    }
  }
  return Traffic(ranks, std::move(entries));
}

/// Looks at all placements without cleverness.
class EveryPlacement {
 public:
  explicit EveryPlacement(const MappingProblem& problem)
      : problem_(problem),
        default_(Placement::by_rank(problem.traffic.rank_count(), problem.fabric.slot_count())),
        of_default_(measure(problem, default_)),
        longest_(longest_time_ratio * transfer_time(problem, default_).value_or(0)),
        slots_(static_cast<std::size_t>(problem.traffic.rank_count()), -1),
        taken_(static_cast<std::size_t>(problem.fabric.slot_count()), false) {
    place(0);
  }

  [[nodiscard]] double least() const { return least_; }
  /// Of those that load no link more than the default, take no longer and gain enough; the default's where there is none.
  [[nodiscard]] double least_within_guard() const { return within_guard_.value_or(of_default_.hop_bytes); }

 private:
  void place(std::size_t rank) {
    if (rank == slots_.size()) {
      look();
      return;
    }
    for (std::size_t slot = 0; slot < taken_.size(); ++slot) {
      if (taken_[slot]) continue;
      taken_[slot] = true;
      slots_[rank] = static_cast<int>(slot);
      place(rank + 1);
      taken_[slot] = false;
    }
  }

  void look() {
    double hop_bytes = 0;
    for (const TrafficEntry& entry : problem_.traffic.entries())
      hop_bytes +=
          static_cast<double>(entry.host.bytes) * problem_.fabric.cost(slots_[entry.from], slots_[entry.to]);
    least_ = std::min(least_, hop_bytes);
    if (hop_bytes * 100 > of_default_.hop_bytes * (100 - least_gain_percent)) return;
    if (hop_bytes >= least_within_guard()) return;
    const Placement placement(slots_, problem_.fabric.slot_count());
    if (measure(problem_, placement).largest_link_load <= of_default_.largest_link_load &&
        transfer_time(problem_, placement).value_or(0) <= longest_)
      within_guard_ = hop_bytes;
  }

  const MappingProblem& problem_;
  Placement default_;
  Metrics of_default_;
  double longest_;
  std::vector<int> slots_;
  std::vector<bool> taken_;
  double least_ = std::numeric_limits<double>::max();
  std::optional<double> within_guard_;
};

struct Shape {
  int ranks;
  int slots_per_host;
};

class FewRanks : public testing::TestWithParam<Shape> {};

TEST_P(FewRanks, GetTheBestOfAllPlacementsAlsoWithinTheGuard) {
  Random random(11);
  for (const SimulatedKind kind : {SimulatedKind::fat_tree, SimulatedKind::torus, SimulatedKind::pcie_tree}) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const auto [ranks, slots_per_host] = GetParam();
      const Traffic traffic = random_traffic(ranks, random);
      const Fabric fabric = simulated_fabric({.kind = kind,
                                              .hosts = (ranks + slots_per_host - 1) / slots_per_host,
                                              .slots_per_host = slots_per_host,
                                              .fragmented = kind != SimulatedKind::pcie_tree,
                                              .seed = seed});
      const MappingProblem problem{.traffic = traffic,
                                   .fabric = fabric,
                                   .grid = {},
                                   .seed = seed,
                                   .routing = seed % 2 == 0 ? Routing::fixed : Routing::adaptive};
      const PortfolioResult result = place_by_portfolio(problem);
      const EveryPlacement every(problem);
      EXPECT_EQ(result.methods[result.best].metrics.hop_bytes, every.least()) << seed;
      EXPECT_EQ(result.result().metrics.hop_bytes, every.least_within_guard())
          << seed << ' ' << result.reason;
    }
  }
}

// Also with slots that stay free.
INSTANTIATE_TEST_SUITE_P(Exhaustive, FewRanks,
                         testing::Values(Shape{4, 2}, Shape{5, 2}, Shape{6, 4}, Shape{7, 1}, Shape{7, 4}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.ranks) + "RanksOnHostsOf" +
                                  std::to_string(shape.param.slots_per_host);
                         });

TEST(Exhaustive, PlacesNineRanksOnTwelveSlots) {
  // Three triangles on hosts of four: each has to be on a host of its own.
  std::vector<TrafficEntry> entries;
  for (int rank = 0; rank < 9; ++rank) entries.push_back({rank, (rank + 3) % 9, {100, 1}, {}});
  const Traffic traffic(9, std::move(entries));
  const Fabric fabric = simulated_fabric({.hosts = 3, .slots_per_host = 4});
  const auto placement = place({.traffic = traffic, .fabric = fabric, .grid = {}}, "exhaustive");
  ASSERT_TRUE(placement);
  for (int rank = 0; rank < 9; ++rank)
    EXPECT_EQ(fabric.host_of(placement->slot_of(rank)), fabric.host_of(placement->slot_of((rank + 3) % 9)));
}

TEST(Exhaustive, CountsOnlyRanksThatSendAndGivesUpOnTooManySlots) {
  const Fabric fabric = simulated_fabric({.hosts = 8, .slots_per_host = 4});
  const Traffic few(20, {{0, 19, {1, 1}, {}}, {4, 8, {1, 1}, {}}});
  const auto placement = place({.traffic = few, .fabric = fabric, .grid = {}}, "exhaustive");
  ASSERT_TRUE(placement);
  EXPECT_EQ(fabric.host_of(placement->slot_of(0)), fabric.host_of(placement->slot_of(19)));
  std::vector<TrafficEntry> entries;
  for (int rank = 0; rank < 10; ++rank) entries.push_back({rank, (rank + 1) % 10, {100, 1}, {}});
  const Traffic ten(10, std::move(entries));
  EXPECT_FALSE(place({.traffic = ten, .fabric = fabric, .grid = {}}, "exhaustive"));
  Random random(1);
  const Traffic nine = random_traffic(9, random);
  const Fabric wide =
      simulated_fabric({.kind = SimulatedKind::torus, .hosts = 200, .slots_per_host = 1, .fragmented = true});
  EXPECT_FALSE(place({.traffic = nine, .fabric = wide, .grid = {}}, "exhaustive"));
}

}  // namespace
}  // namespace selvage::topo
