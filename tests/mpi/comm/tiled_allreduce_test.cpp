#include "allreduce_elements.hpp"
#include "job.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/detail/signal.hpp>
#include <selvage/comm/tiled_allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

using Operation = ReduceOperation;
using Policy = Kokkos::TeamPolicy<Space>;
using Team = Policy::member_type;

/// A team per tile, the last tile first, copies what the tile shall hold, and publishes it.
template <class T>
struct PublishTiles {
  typename Elements<T>::View view;
  Kokkos::View<T*, Space::memory_space> values;
  TiledAllreduce::Port port;
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t tile = port.tiles() - 1 - team.league_rank();
    const ElementRange range = port.elements(tile);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, range.begin, range.begin + range.count),
                         [&](std::int64_t i) { view(i) = values(i); });
    port.publish(team, tile);
  }
};

class TiledAllreduceTest : public testing::Test {
 protected:
  template <class T>
  void expect_right(std::int64_t count, const TiledAllreduce::Options& options, bool is_shared,
                    std::int64_t offset = 0) const {
    Elements<T> elements(context_, count, offset, is_shared);
    Elements<T> source(context_, count, 0, false);
    const Kokkos::View<T*, Space::memory_space> values("values", static_cast<std::size_t>(count));
    const Space space;
    TiledAllreduce tiled(space, context_, elements.view, options);
    const TiledAllreduce::Port port = tiled.device();
    for (int round = 0; round < 4; ++round) {
      source.fill(context_.rank(), round);
      Kokkos::deep_copy(space, values, source.view);
      tiled.start(space);
      if (count > 0)
        Kokkos::parallel_for("publish", Policy(space, static_cast<int>(port.tiles()), Kokkos::AUTO),
                             PublishTiles<T>{elements.view, values, port});
      tiled.finish(space);
      ASSERT_EQ(elements.first_wrong(options.operation, context_.size(), round), -1)
          << "round " << round << ", " << count << " elements\n"
          << tiled.explain();
      tiled.check();
    }
  }
  template <class T>
  void expect_right_for_all() const {
    for (const bool is_shared : {true, false}) {
      for (const Operation operation : {Operation::sum, Operation::average, Operation::max}) {
        for (const std::int64_t count : {0, 1, 64, 65, 1000, 10'007})
          expect_right<T>(count, {.operation = operation, .tile_elements = 64 * (1 + count % 3)}, is_shared,
                          count % 2);
      }
      expect_right<T>(280'001, {.tile_elements = 8192, .max_blocks = 3}, is_shared);
    }
  }

  const Context context_{MPI_COMM_WORLD};
};

TEST_F(TiledAllreduceTest, GivesTheBitsOfAnAllreduce) {
  expect_right_for_all<float>();
  expect_right_for_all<double>();
  expect_right_for_all<Bfloat16>();
  expect_right_for_all<std::int32_t>();
}

/// Whether tiles are combined one by one: they need ranks that map each other's memory, and more than one.
bool combines_early() {
  return this_job().is_on_one_host() && this_job().ranks() > 1;
}

TEST_F(TiledAllreduceTest, CombinesTilesOneByOneWithinAHost) {
  const Elements<float> elements(context_, 1000, 0, true);
  const TiledAllreduce tiled(Space(), context_, elements.view, {.tile_elements = 64});
  const std::string text = tiled.explain();
  EXPECT_EQ(text.find("still run") != std::string::npos, combines_early()) << text;
  EXPECT_EQ(text.find("all are combined in finish()") != std::string::npos, !combines_early()) << text;
}

/// The last rank's kernel publishes the first tile, waits until the first rank has combined it, then publishes the rest.
struct WaitForTheFirstTile {
  Elements<float>::View view;
  TiledAllreduce::Port port;
  float combined;
  bool waits;
  Kokkos::View<int, Space::memory_space> seen;
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    port.publish(team, 0);
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      if (!waits) return;
      constexpr std::uint64_t most_ns = 5'000'000'000;
      const volatile float* const first = view.data();
      const std::uint64_t start = detail::clock_ns();
      while (*first != combined && detail::clock_ns() - start < most_ns) detail::yield_core();
      seen() = *first == combined ? 1 : 0;
    });
    for (std::int64_t tile = 1; tile < port.tiles(); ++tile) port.publish(team, tile);
  }
};

TEST_F(TiledAllreduceTest, CombinesTilesWhileKernelsStillRun) {
  if (!combines_early()) GTEST_SKIP() << "takes two ranks of a host";
  const Space space;
  Elements<float> elements(context_, 1000, 0, true);
  TiledAllreduce tiled(space, context_, elements.view, {.tile_elements = 64});
  Kokkos::deep_copy(elements.view, 1.0F);
  const bool waits = context_.rank() == context_.size() - 1;
  const Kokkos::View<int, Space::memory_space> seen("seen");
  tiled.start(space);
  Kokkos::parallel_for(
      "wait", Policy(space, 1, 1),
      WaitForTheFirstTile{elements.view, tiled.device(), static_cast<float>(context_.size()), waits, seen});
  tiled.finish(space);
  space.fence();
  EXPECT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), seen)(), waits ? 1 : 0);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), elements.view);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values(i), static_cast<float>(context_.size()));
}

struct PublishAll {
  TiledAllreduce::Port port;
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    for (std::int64_t tile = 0; tile < port.tiles(); ++tile) port.publish(team, tile);
  }
};

TEST_F(TiledAllreduceTest, NamesTheRankThatPublishesNothing) {
  if (context_.size() < 2 || !on_host) GTEST_SKIP() << "takes two ranks, and host memory";
  const ShortTimeout patience;
  const Context context(MPI_COMM_WORLD);
  const Space space;
  Elements<float> elements(context, 1000, 0, true);
  const auto error = thrown_by([&] {
    TiledAllreduce tiled(space, context, elements.view, {.tile_elements = 64});
    tiled.start(space);
    if (context.rank() != 1) Kokkos::parallel_for("publish", Policy(space, 1, 1), PublishAll{tiled.device()});
    tiled.finish(space);
  });
  // Where finish() combines all of them, what was published doesn't matter.
  ASSERT_EQ(error.has_value(), combines_early());
  if (!error) return;
  EXPECT_EQ(error->kind(), ErrorKind::timeout);
  EXPECT_NE(error->message().find("rank 1 ("), std::string::npos) << error->message();
  EXPECT_NE(error->message().find("wanted"), std::string::npos) << error->message();
}

/// Tiles that were combined before the time ran out must not be combined again.
TEST_F(TiledAllreduceTest, FinishesWhatRanOutOfTimeInsteadOfStartingAnew) {
  if (!combines_early() || !on_host) GTEST_SKIP() << "takes two ranks of a host, and its memory";
  const ShortTimeout patience;
  const Context context(MPI_COMM_WORLD);
  const Space space;
  Elements<float> elements(context, 1000, 0, true);
  TiledAllreduce tiled(space, context, elements.view, {.tile_elements = 64});
  Kokkos::deep_copy(elements.view, 1.0F);
  tiled.start(space);
  const auto publish = [&] {
    Kokkos::parallel_for("publish", Policy(space, 1, 1), PublishAll{tiled.device()});
  };
  const bool is_late = context.rank() == context.size() - 1;
  if (!is_late) {
    publish();
    EXPECT_TRUE(thrown_by([&] { tiled.finish(space); }));
    const auto anew = thrown_by([&] { tiled.start(space); });
    EXPECT_NE(anew ? anew->message().find("still in flight") : std::string::npos, std::string::npos);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_late) publish();
  tiled.finish(space);
  for (std::size_t i = 0; i < elements.view.size(); ++i)
    ASSERT_EQ(elements.view(i), static_cast<float>(context.size())) << i;
}

TEST_F(TiledAllreduceTest, RefusesTilesThatAreNoLines) {
  const Elements<float> elements(context_, 1000, 0, true);
  for (const std::int64_t tile : {0, 63, 100}) {
    const auto error =
        thrown_by([&] { TiledAllreduce(Space(), context_, elements.view, {.tile_elements = tile}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    EXPECT_EQ(error->message(), "tiles of " + std::to_string(tile) + " elements: give a multiple of 64");
  }
}

TEST_F(TiledAllreduceTest, RefusesDifferentTilesOnEveryRank) {
  if (context_.size() < 2) GTEST_SKIP() << "takes two ranks";
  const Elements<float> elements(context_, 1000, 0, true);
  const auto error = thrown_by([&] {
    TiledAllreduce(Space(), context_, elements.view, {.tile_elements = context_.rank() == 0 ? 64 : 128});
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_NE(error->message().find("64 elements on rank 0, 128 on rank 1"), std::string::npos)
      << error->message();
}

TEST_F(TiledAllreduceTest, IsNoAllreduceOfOtherRanks) {
  if (context_.size() < 2) GTEST_SKIP() << "takes two ranks";
  const Elements<float> elements(context_, 1000, 0, true);
  const std::string message = message_on_all_ranks(ErrorKind::usage, [&] {
    if (context_.rank() == 0) {
      Allreduce(Space(), context_, elements.view, {.max_blocks = 16});
    } else {
      TiledAllreduce(Space(), context_, elements.view, {.max_blocks = 16});
    }
  });
  EXPECT_EQ(message,
            "ranks don't make the same calls in the same order: rank 0 is in the construction of an "
            "Allreduce, rank 1 "
            "in the construction of a TiledAllreduce");
}

TEST_F(TiledAllreduceTest, StartsAndFinishesInTurn) {
  const Elements<float> elements(context_, 1000, 0, true);
  const Space space;
  TiledAllreduce tiled(space, context_, elements.view, {.tile_elements = 64});
  const auto early = thrown_by([&] { tiled.finish(space); });
  ASSERT_TRUE(early);
  EXPECT_EQ(early->kind(), ErrorKind::usage);
}

}  // namespace
}  // namespace selvage::test
