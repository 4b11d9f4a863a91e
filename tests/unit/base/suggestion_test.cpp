#include <selvage/suggestion.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using selvage::closest;
using selvage::did_you_mean;

const std::vector<std::string> keys = {"grid.cells", "grid.periodic", "run.steps", "run.tolerance"};

TEST(Suggestion, FindsOneWrongMissingOrExtraLetter) {
  EXPECT_EQ(closest("run.stepz", keys), "run.steps");
  EXPECT_EQ(closest("run.step", keys), "run.steps");
  EXPECT_EQ(closest("run.stepps", keys), "run.steps");
}

TEST(Suggestion, CountsSwappedNeighboursAsOneSlip) {
  const std::vector<std::string> words = {"abcd", "badx"};
  EXPECT_EQ(closest("badc", words), "badx");
  EXPECT_EQ(closest("abdc", words), "abcd");
}

TEST(Suggestion, TakesTheClosestOfSeveral) {
  EXPECT_EQ(closest("grid.cell", keys), "grid.cells");
}

TEST(Suggestion, StaysSilentForSomethingElse) {
  EXPECT_EQ(closest("boundary.kind", keys), "");
  EXPECT_EQ(closest("x", std::vector<std::string>{"y"}), "");
  EXPECT_EQ(did_you_mean("boundary.kind", keys), "");
}

TEST(Suggestion, ReadsAsTheEndOfAMessage) {
  EXPECT_EQ(did_you_mean("run.step", keys), ", did you mean 'run.steps'?");
}

}  // namespace
