#include "c_interface.hpp"

#include <selvage/selvage.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace selvage::test {
namespace {

/// Each rank owns five particles, and sends the first two to the next rank.
class CLists : public CInterface {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(CInterface::SetUp());
    ids.fill({1, 0});
    ranks.fill({(rank + 1) % size, (rank + 1) % size});
    selvage_list* made = nullptr;
    SELVAGE_OK(selvage_list_create(context.get(), owned, 2, ids.data(), ranks.data(), nullptr, &made));
    list.reset(made);
    ASSERT_EQ(selvage_list_ghosts(list.get()), 2);
  }
  [[nodiscard]] double value(int of_rank, int particle, int component) const {
    return 100.0 * of_rank + 10.0 * particle + component;
  }
  void fill_particles() {
    for (int p = 0; p < owned; ++p)
      for (int c = 0; c < components; ++c) values[place(p, c)] = value(rank, p, c);
    for (int p = owned; p < owned + 2; ++p)
      for (int c = 0; c < components; ++c) values[place(p, c)] = -1;
    values.put();
  }
  /// Components lie apart: all x, then all y.
  [[nodiscard]] static std::size_t place(int particle, int component) {
    return static_cast<std::size_t>(particle + component * (owned + 2));
  }
  void expect_ghosts() {
    values.get();
    const int before = (rank + size - 1) % size;
    for (int c = 0; c < components; ++c) {
      EXPECT_EQ(values[place(owned, c)], value(before, 1, c));
      EXPECT_EQ(values[place(owned + 1, c)], value(before, 0, c));
    }
  }

  static constexpr int owned = 5;
  static constexpr int components = 2;
  Array<std::int64_t> ids{GetParam(), 2};
  Array<int> ranks{GetParam(), 2};
  Array<double> values{GetParam(), components*(owned + 2)};
  selvage_particles particles{values.data(), owned + 2, components, 1, owned + 2};
  Owned<selvage_list> list;
};

TEST_P(CLists, AreGatheredAtOnceAndInTwoParts) {
  fill_particles();
  SELVAGE_OK(selvage_list_gather(list.get(), &particles, sizeof(double)));
  expect_ghosts();
  fill_particles();
  SELVAGE_OK(selvage_list_start_gather(list.get(), &particles, sizeof(double)));
  EXPECT_TRUE(
      fails(selvage_list_gather(list.get(), &particles, sizeof(double)), SELVAGE_USAGE, "finish it first"));
  SELVAGE_OK(selvage_list_finish(list.get()));
  expect_ghosts();
  EXPECT_TRUE(fails(selvage_list_finish(list.get()), SELVAGE_USAGE, "no operation of this list was started"));
  EXPECT_TRUE(fails(selvage_list_gather(list.get(), &particles, 3), SELVAGE_USAGE, "elements of 3 bytes"));
}

TEST_P(CLists, AddGhostsToTheirOwners) {
  for (const bool in_parts : {false, true}) {
    fill_particles();
    for (int c = 0; c < components; ++c) values[place(owned, c)] = values[place(owned + 1, c)] = 0.25;
    values.put();
    if (in_parts) {
      SELVAGE_OK(selvage_list_start_scatter_add(list.get(), &particles, SELVAGE_DOUBLE));
      SELVAGE_OK(selvage_list_finish(list.get()));
    } else {
      SELVAGE_OK(selvage_list_scatter_add(list.get(), &particles, SELVAGE_DOUBLE));
    }
    values.get();
    for (int p = 0; p < owned; ++p)
      for (int c = 0; c < components; ++c)
        EXPECT_EQ(values[place(p, c)], value(rank, p, c) + (p < 2 ? 0.25 : 0)) << "in parts: " << in_parts;
  }
}

TEST_P(CLists, AreRebuilt) {
  SELVAGE_OK(selvage_list_rebuild(list.get(), owned, 1, ids.data(), ranks.data()));
  EXPECT_EQ(selvage_list_ghosts(list.get()), 1);
  fill_particles();
  SELVAGE_OK(selvage_list_gather(list.get(), &particles, sizeof(double)));
  values.get();
  EXPECT_EQ(values[place(owned, 0)], value((rank + size - 1) % size, 1, 0));
  EXPECT_EQ(values[place(owned + 1, 0)], -1);
}

INSTANTIATE_TEST_SUITE_P(Memories, CLists, testing::ValuesIn(memories()), name_of);

}  // namespace
}  // namespace selvage::test
