#include "proxy/copies/engine_copy.hpp"

#include <selvage/comm/detail/host_copy.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace selvage::detail {
namespace {

/// As a copy engine does it.
void run(const EngineCopy& copy) {
  for (std::size_t slice = 0; slice < copy.slices; ++slice) {
    for (std::size_t row = 0; row < copy.rows; ++row) {
      std::memcpy(copy.target + (slice * copy.to.slice_rows + row) * copy.to.pitch_bytes,
                  copy.source + (slice * copy.from.slice_rows + row) * copy.from.pitch_bytes, copy.row_bytes);
    }
  }
}

/// Copies a box both ways and compares every byte of the target. \return how many copies it took
std::size_t expect_the_same_bytes(CopyBox box) {
  std::vector<std::byte> source(1 << 16);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::vector<std::byte> expected(source.size());
  std::vector<std::byte> copied(source.size());
  box.source = source.data() + 40;
  box.target = expected.data() + 24;
  copy_rows_on_host(box, 0, row_count(box));
  box.target = copied.data() + 24;
  std::vector<EngineCopy> copies;
  append_engine_copies(box, copies);
  for (const EngineCopy& copy : copies) run(copy);
  EXPECT_EQ(expected, copied);
  return copies.size();
}

TEST(EngineCopy, TakesAContiguousBlockAsOneRow) {
  EXPECT_EQ(expect_the_same_bytes({.extents = {1, 1, 1, 100},
                                   .source_strides = {0, 0, 0, 8},
                                   .target_strides = {0, 0, 0, 8},
                                   .element_bytes = 8}),
            1U);
}

TEST(EngineCopy, TakesRowsOfDifferentPitchesAtOnce) {
  EXPECT_EQ(expect_the_same_bytes({.extents = {1, 1, 20, 9},
                                   .source_strides = {0, 0, 130, 8},
                                   .target_strides = {0, 0, 77, 8},
                                   .element_bytes = 8}),
            1U);
}

TEST(EngineCopy, TakesSlicesOfRowsAtOnce) {
  EXPECT_EQ(expect_the_same_bytes({.extents = {1, 6, 5, 9},
                                   .source_strides = {0, 1300, 100, 8},
                                   .target_strides = {0, 720, 80, 8},
                                   .element_bytes = 8}),
            1U);
}

TEST(EngineCopy, TakesSlicesOneByOneThatLieOffThePitch) {
  EXPECT_EQ(expect_the_same_bytes({.extents = {1, 3, 5, 9},
                                   .source_strides = {0, 1301, 100, 8},
                                   .target_strides = {0, 720, 80, 8},
                                   .element_bytes = 8}),
            3U);
}

TEST(EngineCopy, TakesSingleElementsAsRows) {
  EXPECT_EQ(expect_the_same_bytes({.extents = {2, 3, 4, 5},
                                   .source_strides = {3000, 400, 90, 16},
                                   .target_strides = {4000, 320, 80, 16},
                                   .element_bytes = 8}),
            8U);
}

TEST(EngineCopy, KeepsAnOrderThatDiffersBetweenTheSides) {
  expect_the_same_bytes({.extents = {1, 4, 5, 3},
                         .source_strides = {0, 800, 100, 8},
                         .target_strides = {0, 24, 96, 8},
                         .element_bytes = 8});
}

TEST(EngineCopy, ContinuesTheOneBeforeWhereBothSidesDo) {
  std::vector<std::byte> memory(512);
  std::vector<EngineCopy> copies;
  const auto add = [&](std::size_t source, std::size_t target) {
    append_engine_copies({.source = memory.data() + source,
                          .target = memory.data() + target,
                          .extents = {1, 1, 1, 4},
                          .source_strides = {0, 0, 0, 8},
                          .target_strides = {0, 0, 0, 8},
                          .element_bytes = 8},
                         copies);
  };
  add(0, 256);
  add(32, 288);
  EXPECT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].row_bytes, 64U);
  add(64, 328);
  EXPECT_EQ(copies.size(), 2U);
}

TEST(EngineCopy, KnowsABlockInAnyOrder) {
  CopyBox box{.extents = {1, 4, 5, 3}, .target_strides = {0, 24, 96, 8}, .element_bytes = 8};
  EXPECT_TRUE(fills_a_block(box));
  box.target_strides[1] = 32;
  EXPECT_FALSE(fills_a_block(box));
}

}  // namespace
}  // namespace selvage::detail
