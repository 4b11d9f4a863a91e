#include "layouts/flatten.hpp"

#include <selvage/comm/datatype.hpp>
#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>

namespace selvage {
namespace {

using List = std::vector<std::int64_t>;
using Runs = std::vector<detail::CopyRun>;

const Datatype bytes = Datatype::element(1);
const Datatype floats = Datatype::of<float>();
const Datatype doubles = Datatype::of<double>();

Runs flat(const Datatype& type) {
  return detail::flatten(type.code());
}

TEST(DatatypeRuns, HoldAContiguousTypeInOneBlock) {
  const Datatype nested = Datatype::contiguous(5, Datatype::vector(3, 2, 2, Datatype::contiguous(2, floats)));
  EXPECT_EQ(flat(nested), (Runs{{.source = 0, .target = 0, .bytes = 5 * 3 * 2 * 2 * 4}}));
}

TEST(DatatypeRuns, HoldAVectorInOneRun) {
  EXPECT_EQ(flat(Datatype::vector(1'000'000'000, 2, 5, doubles)), (Runs{{.source = 0,
                                                                         .target = 0,
                                                                         .bytes = 16,
                                                                         .count = 1'000'000'000,
                                                                         .source_stride = 40,
                                                                         .target_stride = 16}}));
}

TEST(DatatypeRuns, HoldAFaceInARunPerPlane) {
  const Datatype face = Datatype::subarray(List{4, 6, 8}, List{4, 6, 1}, List{0, 0, 7}, doubles);
  // Whole planes follow on each other, so that all columns are equally far apart.
  EXPECT_EQ(
      flat(face),
      (Runs{{.source = 56, .target = 0, .bytes = 8, .count = 24, .source_stride = 64, .target_stride = 8}}));
  const Datatype inner = Datatype::subarray(List{4, 6, 8}, List{4, 3, 1}, List{0, 0, 0}, doubles);
  EXPECT_EQ(flat(inner).size(), 4U);
}

TEST(DatatypeRuns, JoinNeighboursOfAnIndexedType) {
  EXPECT_EQ(flat(Datatype::indexed(List{1, 2, 0, 3}, List{4, 5, 90, 7}, floats)),
            (Runs{{.source = 16, .target = 0, .bytes = 24}}));
  // Neighbours in memory that aren't neighbours in the message stay apart.
  EXPECT_EQ(flat(Datatype::indexed(List{1, 2}, List{5, 3}, floats)),
            (Runs{{.source = 20, .target = 0, .bytes = 4}, {.source = 12, .target = 4, .bytes = 8}}));
}

TEST(DatatypeRuns, HoldNothingForEmptyTypes) {
  const Datatype none = Datatype::vector(3, 0, 5, doubles);
  EXPECT_TRUE(flat(none).empty());
  EXPECT_TRUE(flat(Datatype::contiguous(0, doubles)).empty());
  EXPECT_TRUE(flat(Datatype::structure(List{2, 0}, List{0, 8}, std::array{none, doubles})).empty());
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.signature(), detail::TypeSignature{});
}

struct Particle {
  char kind;
  double position[3];
  float mass;
};

TEST(DatatypeRuns, SkipThePaddingOfAStruct) {
  const Datatype members = Datatype::structure(
      List{1, 3, 1}, List{offsetof(Particle, kind), offsetof(Particle, position), offsetof(Particle, mass)},
      std::array{bytes, doubles, floats});
  const Datatype particle = Datatype::resized(members, 0, sizeof(Particle));
  EXPECT_EQ(particle.size(), 29);
  EXPECT_EQ(particle.extent(), 40);
  const Runs two = flat(Datatype::contiguous(2, particle));
  ASSERT_EQ(two.size(), 4U);
  EXPECT_EQ(two[1], (detail::CopyRun{.source = 8, .target = 1, .bytes = 28}));
  EXPECT_EQ(two[2], (detail::CopyRun{.source = 40, .target = 29, .bytes = 1}));
}

TEST(DatatypeSignature, IsTheSequenceOfElements) {
  EXPECT_EQ(Datatype::contiguous(6, doubles).signature(), Datatype::vector(3, 2, 9, doubles).signature());
  EXPECT_NE(Datatype::contiguous(6, doubles).signature(), Datatype::contiguous(12, floats).signature());
  const Datatype one = Datatype::structure(List{1, 2}, List{0, 8}, std::array{doubles, floats});
  const Datatype two = Datatype::structure(List{2, 1}, List{0, 8}, std::array{floats, doubles});
  EXPECT_EQ(one.size(), two.size());
  EXPECT_NE(one.signature(), two.signature());
  const Datatype longhand =
      Datatype::structure(List{1, 2, 1, 2}, List{0, 8, 50, 60}, std::array{doubles, floats, doubles, floats});
  EXPECT_EQ(Datatype::contiguous(2, one).signature(), longhand.signature());
}

template <class Function>
void expect_usage_error(const Function& function) {
  try {
    static_cast<void>(function());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
  }
}

TEST(Datatype, RefusesWhatNoMemoryHolds) {
  expect_usage_error([] { return Datatype::element(0); });
  expect_usage_error([] { return Datatype::contiguous(-1, doubles); });
  expect_usage_error([] { return Datatype::vector(3, -1, 2, doubles); });
  expect_usage_error([] { return Datatype::indexed(List{1, 2}, List{0}, doubles); });
  expect_usage_error([] { return Datatype::hindexed(List{1, -2}, List{0, 8}, doubles); });
  expect_usage_error([] { return Datatype::structure(List{1}, List{0}, std::array{doubles, floats}); });
  expect_usage_error([] { return Datatype::subarray(List{4}, List{3}, List{2}, doubles); });
  expect_usage_error([] { return Datatype::subarray(List{4}, List{3}, List{-1}, doubles); });
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max() / 4;
  expect_usage_error([] { return Datatype::contiguous(huge, doubles); });
  expect_usage_error([] { return Datatype::hvector(2, 1, 4 * huge, doubles); });
}

}  // namespace
}  // namespace selvage
