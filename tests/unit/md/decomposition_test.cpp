#include "md/ghosts/decomposition.hpp"

#include <gtest/gtest.h>

#include <set>

namespace selvage::md {
namespace {

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

}  // namespace
}  // namespace selvage::md
