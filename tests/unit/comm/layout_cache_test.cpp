#include "layouts/layout_cache.hpp"

#include "layouts/flatten.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

namespace selvage::detail {
namespace {

const Datatype doubles = Datatype::of<double>();

Datatype column(std::int64_t rows) {
  return Datatype::vector(rows, 1, 7, doubles);
}

std::vector<CopyRun> runs_of(const FlatLayout& layout) {
  return {layout.runs.begin(), layout.runs.end()};
}

/// Only its traces in the cache matter.
void learn(LayoutCache& cache, const Datatype& type) {
  static_cast<void>(cache.flatten(type));
}

/// Two ranks of a host, each with a cache over its own pool and the other's.
class LayoutCaches : public testing::Test {
 protected:
  LayoutCache make(int rank, LayoutCache::Hash hash = LayoutCache::hash_of_code) {
    return {pool(rank), {pool(1 - rank)}, arena_, hash};
  }
  void set_pool_bytes(std::size_t bytes) { pool_bytes_ = bytes; }
  LayoutCache::Pool pool(int rank) {
    std::byte*& data = pools_[rank];
    if (data == nullptr) data = arena_.allocate(layout_pool_bytes);
    return {{data, pool_bytes_}, arena_.find(data, pool_bytes_)};
  }

  Arena arena_;

 private:
  std::array<std::byte*, 2> pools_{};
  std::size_t pool_bytes_ = layout_pool_bytes;
};

void expect_counters(const LayoutCache& cache, const Context::LayoutCacheCounters& expected) {
  const Context::LayoutCacheCounters seen = cache.counters();
  EXPECT_EQ(seen.hits, expected.hits);
  EXPECT_EQ(seen.host_hits, expected.host_hits);
  EXPECT_EQ(seen.misses, expected.misses);
  EXPECT_EQ(seen.uncached, expected.uncached);
}

TEST_F(LayoutCaches, FlattenALayoutOnce) {
  LayoutCache cache = make(0);
  const FlatLayout first = cache.flatten(column(5));
  const FlatLayout again = cache.flatten(column(5));
  EXPECT_EQ(runs_of(first), flatten(column(5).code()));
  EXPECT_EQ(again.runs.data(), first.runs.data());
  expect_counters(cache, {.hits = 1, .misses = 1});
}

TEST_F(LayoutCaches, FindTheSameLayoutMadeAnotherWay) {
  LayoutCache cache = make(0);
  const FlatLayout first = cache.flatten(column(5));
  const FlatLayout bytes = cache.flatten(Datatype::hvector(5, 1, 56, doubles));
  EXPECT_EQ(bytes.runs.data(), first.runs.data());
}

TEST_F(LayoutCaches, ReadWhatAnotherRankHasFlattened) {
  LayoutCache mine = make(0);
  LayoutCache theirs = make(1);
  const FlatLayout published = theirs.flatten(column(9));
  const FlatLayout found = mine.flatten(column(9));
  EXPECT_EQ(found.runs.data(), published.runs.data());
  EXPECT_EQ(mine.flatten(column(9)).runs.data(), published.runs.data());
  expect_counters(mine, {.host_hits = 2});
  expect_counters(theirs, {.misses = 1});
}

TEST_F(LayoutCaches, NameTheRunsForOtherRanks) {
  LayoutCache mine = make(0);
  LayoutCache theirs = make(1);
  learn(mine, column(3));
  learn(theirs, column(4));
  for (const std::int64_t rows : {3, 4}) {
    const FlatLayout layout = mine.flatten(column(rows));
    ASSERT_TRUE(layout.range.has_value());
    const auto named = arena_.find(layout.runs.data(), layout.runs.size_bytes());
    EXPECT_EQ(layout.range->segment, named->segment);
    EXPECT_EQ(layout.range->offset, named->offset);
  }
}

TEST_F(LayoutCaches, TellLayoutsOfOneHashApart) {
  constexpr auto same_for_all = [](std::span<const std::int64_t>) -> std::uint64_t { return 7; };
  LayoutCache mine = make(0, same_for_all);
  LayoutCache theirs = make(1, same_for_all);
  for (std::int64_t rows = 2; rows < 20; ++rows) learn(rows % 2 == 0 ? mine : theirs, column(rows));
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (std::int64_t rows = 2; rows < 20; ++rows)
      EXPECT_EQ(runs_of(mine.flatten(column(rows))), flatten(column(rows).code())) << rows;
  }
  expect_counters(mine, {.hits = 18, .host_hits = 18, .misses = 9});
}

TEST_F(LayoutCaches, KeepWhatThePoolHasNoRoomForApart) {
  set_pool_bytes(sizeof(LayoutPool) + 256);
  LayoutCache mine = make(0);
  LayoutCache theirs = make(1);
  const std::vector<std::int64_t> lengths{1, 2, 3, 4, 5, 6, 7};
  const std::vector<std::int64_t> displacements{0, 10, 21, 33, 46, 60, 75};
  const Datatype large = Datatype::indexed(lengths, displacements, doubles);
  const FlatLayout apart = mine.flatten(large);
  EXPECT_EQ(runs_of(apart), flatten(large.code()));
  ASSERT_TRUE(apart.range.has_value());
  EXPECT_EQ(apart.range->segment, arena_.find(apart.runs.data(), 1)->segment);
  EXPECT_EQ(runs_of(theirs.flatten(large)), flatten(large.code()));
  learn(mine, column(2));
  learn(mine, column(2));
  expect_counters(mine, {.hits = 1, .misses = 1, .uncached = 1});
}

TEST_F(LayoutCaches, WorkWithoutSharedMemory) {
  LayoutCache cache({}, {}, arena_);
  EXPECT_EQ(runs_of(cache.flatten(column(5))), flatten(column(5).code()));
  EXPECT_FALSE(cache.flatten(column(5)).range.has_value());
  expect_counters(cache, {.hits = 1, .misses = 1});
}

TEST_F(LayoutCaches, HoldLayoutsWithoutElements) {
  LayoutCache mine = make(0);
  LayoutCache theirs = make(1);
  EXPECT_TRUE(mine.flatten(column(0)).runs.empty());
  EXPECT_TRUE(theirs.flatten(column(0)).runs.empty());
  EXPECT_EQ(theirs.flatten(column(6)).runs.size(), 1U);
  expect_counters(theirs, {.host_hits = 1, .misses = 1});
}

TEST_F(LayoutCaches, GrowWhileOthersRead) {
  LayoutCache mine = make(0);
  LayoutCache theirs = make(1);
  constexpr std::int64_t layouts = 400;
  std::thread writer([&] {
    for (std::int64_t rows = 2; rows < layouts; ++rows) learn(mine, column(rows));
  });
  int wrong = 0;
  for (std::int64_t rows = 2; rows < layouts; ++rows) {
    const FlatLayout layout = theirs.flatten(column(rows));
    if (layout.runs.size() != 1 || layout.runs[0].count != rows) ++wrong;
  }
  writer.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace selvage::detail
