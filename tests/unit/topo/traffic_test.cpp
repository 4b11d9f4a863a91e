#include "mutation.hpp"

#include <selvage/topo/pattern.hpp>
#include <selvage/topo/traffic.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <utility>

namespace selvage::topo {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

TEST(Traffic, AddsUpEntriesOfOnePairAndSortsThem) {
  const Traffic traffic(
      3, {{2, 0, {5, 1}, {0, 0}}, {0, 1, {1, 1}, {2, 2}}, {2, 0, {7, 2}, {4, 1}}, {1, 1, {}, {}}});
  const std::vector<TrafficEntry> expected = {{0, 1, {1, 1}, {2, 2}}, {2, 0, {12, 3}, {4, 1}}};
  EXPECT_EQ(traffic.entries(), expected);
  EXPECT_EQ(traffic.sent_by(2).size(), 1u);
  EXPECT_TRUE(traffic.sent_by(1).empty());
  EXPECT_EQ(traffic.total_bytes(), 19u);
}

TEST(Traffic, RefusesWhatCannotBe) {
  EXPECT_EQ(input_error([] { Traffic(2, {{0, 2, {1, 1}, {}}}); }), "receiver 2 of 2 ranks");
  EXPECT_EQ(input_error([] { Traffic(2, {{-1, 0, {1, 1}, {}}}); }), "sender -1 of 2 ranks");
  EXPECT_EQ(input_error([] {
              Traffic(2, {{0, 1, {most, 1}, {}}, {0, 1, {1, 1}, {}}});
            }),
            "bytes between two ranks pass 64 bits");
  EXPECT_EQ(input_error([] { Traffic(-1, {}); }), "traffic of -1 ranks; 0 to 1048576 are possible");
  EXPECT_EQ(input_error([] {
              Traffic(1, {},
                      {.mpi_library = {},
                       .seconds = {},
                       .communication_seconds = {},
                       .host_histogram = {1, 2},
                       .device_histogram = {}});
            }),
            "a host histogram of 2 numbers instead of 64");
  EXPECT_EQ(input_error([] { (void)(Traffic(2, {}) + Traffic(3, {})); }),
            "traffic of 2 ranks and of 3 ranks together");
}

TEST(Traffic, PredictsA2dStencilExactly) {
  const std::vector<std::uint64_t> bytes = {100, 7};
  const Traffic traffic =
      Traffic::from_stencil({.dims = {2, 3}, .periodic = {}, .directions = face_directions(bytes)});
  // Ranks 0 1 2 above 3 4 5: rank 1 has 0 and 2 beside it and 4 below.
  const std::vector<TrafficEntry> sent = {{1, 0, {}, {7, 1}}, {1, 2, {}, {7, 1}}, {1, 4, {}, {100, 1}}};
  EXPECT_EQ(std::vector<TrafficEntry>(traffic.sent_by(1).begin(), traffic.sent_by(1).end()), sent);
  EXPECT_EQ(traffic.total_bytes(), 6u * 100 + 8u * 7);
}

TEST(Traffic, CountsBothWaysRoundAPeriodicDimensionOfTwo) {
  const std::vector<std::uint64_t> bytes = {10};
  const Traffic traffic = Traffic::from_stencil(
      {.dims = {2}, .periodic = {true}, .directions = face_directions(bytes), .memory = Memory::host});
  EXPECT_EQ(traffic.entries().front(), (TrafficEntry{0, 1, {20, 2}, {}}));
}

TEST(Traffic, KeepsWhatAPeriodicDimensionOfOneSendsToItself) {
  const std::vector<std::uint64_t> bytes = {10};
  const Traffic traffic =
      Traffic::from_stencil({.dims = {1}, .periodic = {true}, .directions = face_directions(bytes)});
  EXPECT_EQ(traffic.entries().front(), (TrafficEntry{0, 0, {}, {20, 2}}));
  EXPECT_EQ(traffic.total_bytes(), 0u);
}

/// Every cell that a rank needs, looked up one by one in the whole domain.
std::map<std::pair<int, int>, std::uint64_t> counted_halo(const std::vector<int>& dims, int cells, int width,
                                                          bool corners) {
  std::map<std::pair<int, int>, std::uint64_t> bytes;
  const auto rank_of = [&](int x, int y, int z) {
    return (x / cells * dims[1] + y / cells) * dims[2] + z / cells;
  };
  const int nx = dims[0] * cells;
  const int ny = dims[1] * cells;
  const int nz = dims[2] * cells;
  for (int rank = 0; rank < dims[0] * dims[1] * dims[2]; ++rank) {
    const int x0 = rank / (dims[1] * dims[2]) * cells;
    const int y0 = rank / dims[2] % dims[1] * cells;
    const int z0 = rank % dims[2] * cells;
    for (int x = x0 - width; x < x0 + cells + width; ++x) {
      for (int y = y0 - width; y < y0 + cells + width; ++y) {
        for (int z = z0 - width; z < z0 + cells + width; ++z) {
          const int outside =
              (x < x0 || x >= x0 + cells) + (y < y0 || y >= y0 + cells) + (z < z0 || z >= z0 + cells);
          if (outside == 0 || (outside > 1 && !corners)) continue;
          if (x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz) continue;
          bytes[{rank_of(x, y, z), rank}] += 8;
        }
      }
    }
  }
  return bytes;
}

TEST(Traffic, PredictsHalosOfBoxesCellByCell) {
  const std::vector<std::uint64_t> cells = {4, 4, 4};
  for (const bool corners : {false, true}) {
    const std::vector<int> dims = {3, 2, 3};
    const Traffic traffic = Traffic::from_stencil(
        {.dims = dims, .periodic = {}, .directions = box_directions(cells, 2, 8, corners)});
    std::map<std::pair<int, int>, std::uint64_t> predicted;
    for (const TrafficEntry& entry : traffic.entries())
      predicted[{entry.from, entry.to}] = entry.device.bytes;
    EXPECT_EQ(predicted, counted_halo(dims, 4, 2, corners)) << corners;
  }
}

TEST(Traffic, RefusesStencilsThatContradictThemselves) {
  const std::vector<std::uint64_t> bytes = {1, 1};
  EXPECT_EQ(
      input_error([&] {
        (void)Traffic::from_stencil({.dims = {2}, .periodic = {}, .directions = face_directions(bytes)});
      }),
      "a stencil of 1 dimensions with an offset of 2");
  EXPECT_EQ(input_error([&] {
              (void)Traffic::from_stencil(
                  {.dims = {2, 2}, .periodic = {true}, .directions = face_directions(bytes)});
            }),
            "a stencil of 2 dimensions with 1 periodicities");
  EXPECT_EQ(input_error([&] {
              (void)Traffic::from_stencil({.dims = {2, 0}, .periodic = {}, .directions = {}});
            }),
            "a process grid with a dimension of 0");
  const std::vector<std::uint64_t> huge = {most, most};
  EXPECT_EQ(input_error([&] { (void)box_directions(huge, 2, 8, false); }),
            "the bytes of a halo pass 64 bits");
}

TEST(Pattern, SendsThreeTimesAsMuchAlongTheFirstDimensionWhereWeighted) {
  const Pattern pattern = pattern_named("2d-2x2-weighted");
  EXPECT_EQ(pattern.traffic.sent_by(0)[0], (TrafficEntry{0, 1, {}, {65536, 1}}));
  EXPECT_EQ(pattern.traffic.sent_by(0)[1], (TrafficEntry{0, 2, {}, {3 * 65536, 1}}));
}

TEST(Pattern, RunsAllToAllAlongTheFirstDimension) {
  const Pattern pattern = pattern_named("coll-3x2");
  const std::vector<TrafficEntry> sent = {{1, 3, {}, {65536, 1}}, {1, 5, {}, {65536, 1}}};
  EXPECT_EQ(std::vector<TrafficEntry>(pattern.traffic.sent_by(1).begin(), pattern.traffic.sent_by(1).end()),
            sent);
}

TEST(Pattern, RunsTwoAtOnceInHostAndDeviceMemory) {
  const Pattern both = pattern_named("2d-2x2+coll-4x1");
  EXPECT_EQ(both.traffic.sent_by(0)[0], (TrafficEntry{0, 1, {65536, 1}, {65536, 1}}));
  EXPECT_EQ(both.traffic.sent_by(0)[2], (TrafficEntry{0, 3, {}, {65536, 1}}));
  EXPECT_EQ(input_error([] { (void)pattern_named("2d-2x2+coll-5x1"); }),
            "pattern '2d-2x2+coll-5x1': 4 ranks and 5 ranks");
}

TEST(Pattern, HasTwentySixUnevenNeighboursInMolecularDynamics) {
  const Pattern pattern = pattern_named("md-4x4x4");
  EXPECT_EQ(pattern.traffic.sent_by(21).size(), 26u);
  EXPECT_NE(pattern.traffic.sent_by(0)[0].device.bytes, pattern.traffic.sent_by(63)[25].device.bytes);
}

TEST(Pattern, RefusesOtherNames) {
  for (const char* name :
       {"", "2d", "4d-2x2x2x2", "2d-2x2x2", "3d-8x8", "2d-0x4", "2d-2x-2", "2d-2x2-rap", "md-2x2-wrap",
        "2d-99999999999x2", "2d-2000000x2000000", "2d-2x2+", "+", "coll-2x2x2x2x2x2x2"}) {
    EXPECT_NE(input_error([&] { (void)pattern_named(name); }), "") << name;
  }
  expect_only_input_errors("2d-4x4-wrap+coll-4x2x2",
                           [](const std::string& name) { (void)pattern_named(name); });
}

}  // namespace
}  // namespace selvage::topo
