#include "md/ghosts/decomposition.hpp"

#include "expect_error.hpp"
#include "md/ghosts/load.hpp"
#include "md/ghosts/planes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>
#include <tuple>

namespace selvage::md {
namespace {

using app::testing_support::error_message;

const Domain cube{{0, 0, 0}, {12, 12, 12}};

TEST(Decomposition, BoxesTileTheDomainAndEachHasItsRank) {
  const Domain domain{{-1, 2, 0}, {11, 10, 6}};
  for (const int ranks : {1, 2, 3, 5, 8, 12}) {
    double volume = 0;
    std::set<std::array<int, 3>> places;
    for (int rank = 0; rank < ranks; ++rank) {
      const Decomposition decomposition(domain, ranks, rank);
      EXPECT_EQ(decomposition.rank_at(decomposition.place()), rank);
      const Domain box = decomposition.box();
      volume += box.volume();
      places.insert(decomposition.place());
      for (int axis = 0; axis < 3; ++axis) {
        const int place = decomposition.place()[axis];
        if (place == 0) {
          EXPECT_EQ(box.lower[axis], domain.lower[axis]);
        }
        if (place + 1 == decomposition.ranks()[axis]) {
          EXPECT_EQ(box.upper[axis], domain.upper[axis]);
        }
      }
    }
    EXPECT_NEAR(volume, domain.volume(), 1e-9);
    EXPECT_EQ(places.size(), static_cast<std::size_t>(ranks));
  }
}

TEST(Decomposition, HasTheSmallestSurface) {
  EXPECT_EQ(Decomposition(cube, 8, 0).ranks(), (std::array<int, 3>{2, 2, 2}));
  EXPECT_EQ(Decomposition({{0, 0, 0}, {1, 1, 40}}, 4, 0).ranks(), (std::array<int, 3>{1, 1, 4}));
  EXPECT_EQ(Decomposition({{0, 0, 0}, {10, 40, 10}}, 4, 0).ranks(), (std::array<int, 3>{1, 4, 1}));
}

TEST(Decomposition, TakesTheCountsOfBoxesThatItIsGiven) {
  const Decomposition decomposition(cube, 6, 4, {{6, 1, 1}});
  EXPECT_EQ(decomposition.ranks(), (std::array<int, 3>{6, 1, 1}));
  EXPECT_EQ(decomposition.box(), (Domain{{8, 0, 0}, {10, 12, 12}}));
}

TEST(Decomposition, CountsOfBoxesMakeAsManyAsThereAreRanks) {
  const auto refused = [](const std::array<int, 3>& counts) {
    return error_message(ErrorKind::input, [&] { static_cast<void>(Decomposition(cube, 6, 0, counts)); });
  };
  EXPECT_EQ(refused({2, 2, 1}), "comm.ranks_grid 2x2x1 is for 4 ranks, and there are 6");
  // 2^64 boxes, which is 0 in 64 bits.
  EXPECT_EQ(refused({1 << 30, 1 << 30, 16}).find("comm.ranks_grid 1073741824x1073741824x16 is for 1.8"), 0u);
}

/// Points in a ball off the middle.
State cluster() {
  State state{.domain = {{-3, 0, 0}, {37, 40, 40}}};
  std::mt19937_64 random(3);
  std::normal_distribution<double> offset(0, 1);
  while (state.positions.size() < 4000) {
    const Vec3<double> x{9 + 2.5 * offset(random), 14 + 2.5 * offset(random), 24 + 2.5 * offset(random)};
    state.positions.push_back(x);
    state.ids.push_back(state.atoms() + 1);
  }
  state.velocities.resize(4000);
  state.images.resize(4000);
  return state;
}

TEST(Decomposition, BalancedBoxesHoldAsManyAtoms) {
  const State state = cluster();
  const auto count = [&](const Decomposition& so_far, int axis) {
    return count_atoms<double>(state, so_far, axis);
  };
  for (const int ranks : {2, 3, 4, 8, 12, 18}) {
    std::vector<double> equal;
    std::vector<double> balanced;
    double volume = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      Decomposition decomposition(state.domain, ranks, rank);
      equal.push_back(static_cast<double>(atoms_of_rank<double>(state, decomposition, rank).atoms()));
      EXPECT_TRUE(decomposition.balance(0.01, count));
      EXPECT_FALSE(decomposition.balance(0.01, count)) << "the same atoms give other planes";
      balanced.push_back(static_cast<double>(atoms_of_rank<double>(state, decomposition, rank).atoms()));
      volume += decomposition.box().volume();
    }
    EXPECT_GT(imbalance(equal), 1.3) << ranks;
    EXPECT_LT(imbalance(balanced), 1.1) << ranks;
    EXPECT_EQ(std::accumulate(balanced.begin(), balanced.end(), 0.0), 4000) << ranks;
    EXPECT_NEAR(volume, state.domain.volume(), 1e-8);
  }
}

TEST(Decomposition, BalancedPlanesKeepTheirDistance) {
  const State state = cluster();
  constexpr double least = 8;
  for (int rank = 0; rank < 64; ++rank) {
    Decomposition decomposition(state.domain, 64, rank);
    decomposition.balance(least, [&](const Decomposition& so_far, int axis) {
      return count_atoms<double>(state, so_far, axis);
    });
    for (int axis = 0; axis < 3; ++axis) EXPECT_GE(decomposition.box().length(axis), least - 1e-9);
  }
}

TEST(Decomposition, PlanesStayEqualWhereNothingLies) {
  Decomposition decomposition(cube, 8, 0);
  EXPECT_FALSE(decomposition.balance(1, [](const Decomposition& so_far, int axis) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(so_far.rows(axis)) * Decomposition::bins);
  }));
}

/// However planes lie: each point within reach of a box, through periodic sides or not, is named once, and none else.
TEST(Decomposition, NeighboursAreTheBoxesWithinReach) {
  const State state = cluster();
  constexpr double width = 3;
  for (const int ranks : {2, 6, 12}) {
    for (int rank = 0; rank < ranks; ++rank) {
      Decomposition own(state.domain, ranks, rank);
      own.balance(width, [&](const Decomposition& so_far, int axis) {
        return count_atoms<double>(state, so_far, axis);
      });
      const auto neighbours = own.neighbours(width);
      const State atoms = atoms_of_rank<double>(state, own, rank);
      for (std::size_t i = 0; i < atoms.positions.size(); i += 7) {
        const Vec3<double>& x = atoms.positions[i];
        const double p[3] = {x.x, x.y, x.z};
        std::multiset<std::tuple<int, double, double, double>> expected;
        std::multiset<std::tuple<int, double, double, double>> found;
        for (int place = 0; place < ranks; ++place) {
          const auto& n = own.ranks();
          const Domain box = own.box_at({place % n[0], place / n[0] % n[1], place / (n[0] * n[1])});
          for (int image = 0; image < 27; ++image) {
            const double shift[3] = {(image % 3 - 1) * 40.0, (image / 3 % 3 - 1) * 40.0,
                                     (image / 9 - 1) * 40.0};
            bool is_within = !(place == rank && image == 13);
            for (int a = 0; a < 3; ++a) {
              const double moved = p[a] + shift[a];
              is_within = is_within && moved >= box.lower[a] - width && moved < box.upper[a] + width;
            }
            if (is_within) expected.emplace(place, shift[0], shift[1], shift[2]);
          }
        }
        for (const auto& n : neighbours) {
          bool is_within = true;
          for (int a = 0; a < 3; ++a)
            is_within = is_within && p[a] >= n.reach.lower[a] && p[a] < n.reach.upper[a];
          if (is_within) found.emplace(n.rank, n.shift[0], n.shift[1], n.shift[2]);
        }
        EXPECT_EQ(found, expected);
      }
    }
  }
}

}  // namespace
}  // namespace selvage::md
