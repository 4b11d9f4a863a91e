#include "allreduce_registry.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace selvage::detail {
namespace {

AllreduceAlgorithm choice(const AllreduceFacts& facts) {
  return choose_allreduce(facts, {}, {}).entry->algorithm;
}

TEST(AllreduceChoice, TakesOneShotWhileElementsAreFew) {
  EXPECT_EQ(choice({.ranks = 4, .bytes = 1024}), AllreduceAlgorithm::one_shot);
  EXPECT_EQ(choice({.ranks = 4, .bytes = 1 << 20}), AllreduceAlgorithm::two_shot);
}

TEST(AllreduceChoice, TakesMoreStepsOnGpusTheMoreBytesThereAre) {
  const auto on_gpus = [](std::int64_t bytes, int ranks, int multiprocessors = 0) {
    return choice({.ranks = ranks, .bytes = bytes, .on_host = false, .multiprocessors = multiprocessors});
  };
  EXPECT_EQ(on_gpus(1024, 4), AllreduceAlgorithm::one_shot);
  EXPECT_EQ(on_gpus(256 << 10, 4), AllreduceAlgorithm::one_shot_ll128);
  EXPECT_EQ(on_gpus(512 << 10, 4), AllreduceAlgorithm::two_shot_ll128);
  EXPECT_EQ(on_gpus(512 << 10, 2), AllreduceAlgorithm::one_shot_ll128);
  EXPECT_EQ(on_gpus(16 << 20, 4), AllreduceAlgorithm::two_shot_push);
  // Loads fill the links from few multiprocessors.
  EXPECT_EQ(on_gpus(16 << 20, 4, 16), AllreduceAlgorithm::two_shot);
}

TEST(AllreduceChoice, GoesHostByHostWhereRanksAreApart) {
  AllreduceFacts apart{.ranks = 4, .bytes = 1024, .mapping_refusal = "rank 2 is on another host than rank 0"};
  EXPECT_EQ(choice(apart), AllreduceAlgorithm::hierarchical);
  apart.hierarchy_refusal = "ranks of host 1 don't follow each other";
  const ChosenAllreduce chosen = choose_allreduce(apart, {}, {});
  EXPECT_EQ(chosen.entry->algorithm, AllreduceAlgorithm::mpi);
  EXPECT_NE(chosen.why.find(apart.mapping_refusal), std::string::npos) << chosen.why;
  EXPECT_NE(chosen.why.find(apart.hierarchy_refusal), std::string::npos) << chosen.why;
}

TEST(AllreduceChoice, SaysWhyAForcedAlgorithmIsImpossible) {
  const AllreduceFacts apart{
      .ranks = 4, .bytes = 1024, .mapping_refusal = "rank 2 is on another host than rank 0"};
  try {
    static_cast<void>(choose_allreduce(apart, AllreduceAlgorithm::two_shot, "SELVAGE_ALLREDUCE"));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(error.message(),
              "allreduce algorithm two_shot, forced by SELVAGE_ALLREDUCE, is not possible: rank 2 is on "
              "another host "
              "than rank 0");
  }
}

TEST(AllreduceChoice, LeavesMoreRanksThanKernelsNameToMpi) {
  EXPECT_EQ(choice({.ranks = 9, .bytes = 1024, .on_host = false, .hierarchy_refusal = "it is not for GPUs"}),
            AllreduceAlgorithm::mpi);
}

TEST(AllreduceChoice, FollowsATableBeforeItsOwnRule) {
  const AllreduceFacts facts{
      .ranks = 4, .bytes = 1024, .advice = {.algorithms = {"mpi", "one_shot"}, .why = "row of 1024 bytes"}};
  const ChosenAllreduce chosen = choose_allreduce(facts, {}, {});
  EXPECT_EQ(chosen.entry->algorithm, AllreduceAlgorithm::mpi);
  EXPECT_EQ(chosen.why, "row of 1024 bytes");
}

TEST(AllreduceChoice, IsForcedWhateverATableSays) {
  const AllreduceFacts facts{.ranks = 4, .bytes = 1024, .advice = {.algorithms = {"mpi"}, .why = "a row"}};
  const ChosenAllreduce chosen = choose_allreduce(facts, AllreduceAlgorithm::two_shot, "SELVAGE_ALLREDUCE");
  EXPECT_EQ(chosen.entry->algorithm, AllreduceAlgorithm::two_shot);
  EXPECT_EQ(chosen.why, "forced by SELVAGE_ALLREDUCE");
}

TEST(AllreduceChoice, PassesOverWhatIsImpossibleInATable) {
  const AllreduceFacts facts{
      .ranks = 4,
      .bytes = 1024,
      .mapping_refusal = "rank 2 is on another host than rank 0",
      .hierarchy_refusal = "ranks of host 1 don't follow each other",
      .advice = {.algorithms = {"telepathy", "two_shot", "hierarchical", "mpi"}, .why = "a row"}};
  const ChosenAllreduce chosen = choose_allreduce(facts, {}, {});
  EXPECT_EQ(chosen.entry->algorithm, AllreduceAlgorithm::mpi);
  EXPECT_EQ(
      chosen.why,
      "a row; not telepathy: this version doesn't have it; not two_shot: rank 2 is on another host than "
      "rank 0; not hierarchical: ranks of host 1 don't follow each other");
}

TEST(AllreduceChoice, GoesBackToItsOwnRuleWhereATableHelpsNothing) {
  const AllreduceFacts impossible{
      .ranks = 4, .bytes = 1024, .advice = {.algorithms = {"telepathy"}, .why = "a row"}};
  const ChosenAllreduce chosen = choose_allreduce(impossible, {}, {});
  EXPECT_EQ(chosen.entry->algorithm, AllreduceAlgorithm::one_shot);
  EXPECT_EQ(chosen.why,
            "at most 8192 bytes between 4 ranks; a row; not telepathy: this version doesn't have it");
  const AllreduceFacts outside{.ranks = 4, .bytes = 1 << 20, .advice = {.why = "some.json has no such row"}};
  EXPECT_EQ(choose_allreduce(outside, {}, {}).entry->algorithm, AllreduceAlgorithm::two_shot);
  EXPECT_EQ(choose_allreduce(outside, {}, {}).why,
            "more than 8192 bytes between 4 ranks; some.json has no such row");
}

}  // namespace
}  // namespace selvage::detail
