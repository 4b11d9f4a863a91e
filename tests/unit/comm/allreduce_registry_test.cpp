#include "collectives/allreduce_registry.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace selvage::detail {
namespace {

AllreduceAlgorithm choice(const AllreduceFacts& facts) {
  return choose_allreduce(facts, {}, {}).entry->algorithm;
}

std::string refusal(const AllreduceFacts& facts, const AllreduceOptions& options) {
  try {
    return "none: " + choose_allreduce(facts, options, "a test").why;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    return error.message();
  }
}

TEST(AllreduceChoice, TakesOneShotWhileElementsAreFew) {
  EXPECT_EQ(choice({.ranks = 4, .bytes = 1024}), AllreduceAlgorithm::one_shot);
  EXPECT_EQ(choice({.ranks = 4, .bytes = 2048}), AllreduceAlgorithm::two_shot);
  EXPECT_EQ(choice({.ranks = 4, .bytes = 2048, .ranks_share_cores = true}), AllreduceAlgorithm::one_shot);
  EXPECT_EQ(choice({.ranks = 4, .bytes = 4096, .ranks_share_cores = true}), AllreduceAlgorithm::two_shot);
  // The second wait costs two ranks less than what they combine twice.
  EXPECT_EQ(choice({.ranks = 2, .bytes = 512}), AllreduceAlgorithm::one_shot);
  EXPECT_EQ(choice({.ranks = 2, .bytes = 1024}), AllreduceAlgorithm::two_shot);
  // In place nothing is copied.
  EXPECT_EQ(choice({.ranks = 2, .bytes = 64, .has_mapped_views = true}), AllreduceAlgorithm::two_shot);
  EXPECT_EQ(choice({.ranks = 4, .bytes = 64, .has_mapped_views = true}), AllreduceAlgorithm::two_shot);
  // But the second wait is long where ranks wait for the same core.
  EXPECT_EQ(choice({.ranks = 4, .bytes = 64, .has_mapped_views = true, .ranks_share_cores = true}),
            AllreduceAlgorithm::one_shot);
}

TEST(AllreduceChoice, SaysForWhichSizes) {
  const auto why = [](const AllreduceFacts& facts) { return choose_allreduce(facts, {}, {}).why; };
  EXPECT_EQ(why({.ranks = 2, .bytes = 512}), "at most 512 bytes between 2 ranks");
  EXPECT_EQ(why({.ranks = 2, .bytes = 513}), "more than 512 bytes between 2 ranks");
  EXPECT_EQ(why({.ranks = 2, .bytes = 64, .has_mapped_views = true}),
            "any number of bytes between 2 ranks that map each other's Views");
}

TEST(AllreduceChoice, TakesMoreStepsOnGpusTheMoreBytesThereAre) {
  const auto on_gpus = [](std::int64_t bytes, int ranks, int multiprocessors = 0) {
    return choice({.ranks = ranks, .bytes = bytes, .on_host = false, .max_blocks = multiprocessors});
  };
  EXPECT_EQ(on_gpus(1024, 4), AllreduceAlgorithm::one_shot);
  EXPECT_EQ(on_gpus(64 << 10, 4), AllreduceAlgorithm::one_shot);
  EXPECT_EQ(on_gpus(64 << 10, 8), AllreduceAlgorithm::one_shot_ll128);
  EXPECT_EQ(on_gpus(64 << 10, 4, 16), AllreduceAlgorithm::one_shot_ll128);
  EXPECT_EQ(on_gpus(256 << 10, 4), AllreduceAlgorithm::one_shot_ll128);
  EXPECT_EQ(on_gpus(512 << 10, 4), AllreduceAlgorithm::two_shot_ll128);
  EXPECT_EQ(on_gpus(512 << 10, 2), AllreduceAlgorithm::one_shot_ll128);
  EXPECT_EQ(on_gpus(16 << 20, 4), AllreduceAlgorithm::two_shot_push);
  // Loads fill the links from few multiprocessors.
  EXPECT_EQ(on_gpus(16 << 20, 4, 16), AllreduceAlgorithm::two_shot);
}

TEST(AllreduceChoice, LeavesLinesEarlierWhereRanksShareGpus) {
  const auto of_four = [](std::int64_t bytes, const std::vector<int>& gpus) {
    return choice({.ranks = 4, .bytes = bytes, .on_host = false, .gpus = gpus});
  };
  EXPECT_EQ(of_four(1 << 20, {0, 1, 0, 1}), AllreduceAlgorithm::two_shot_ll128);
  EXPECT_EQ(of_four(4 << 20, {0, 1, 0, 1}), AllreduceAlgorithm::two_shot_push);
  EXPECT_EQ(of_four(4 << 20, {0, 1, 2, 3}), AllreduceAlgorithm::two_shot_ll128);
}

TEST(AllreduceChoice, LoadsFromRanksThatShareAGpu) {
  const auto on_one_gpu = [](std::int64_t bytes, int ranks) {
    return choice({.ranks = ranks,
                   .bytes = bytes,
                   .on_host = false,
                   .gpus = std::vector<int>(static_cast<std::size_t>(ranks), 0)});
  };
  EXPECT_EQ(on_one_gpu(256 << 10, 4), AllreduceAlgorithm::one_shot);
  EXPECT_EQ(on_one_gpu(1 << 20, 2), AllreduceAlgorithm::one_shot_ll128);
  EXPECT_EQ(on_one_gpu(1 << 20, 4), AllreduceAlgorithm::two_shot);
  EXPECT_EQ(on_one_gpu(16 << 20, 2), AllreduceAlgorithm::two_shot);
  // Two GPUs, the second of which two ranks share.
  EXPECT_EQ(choice({.ranks = 3, .bytes = 16 << 20, .on_host = false, .gpus = {0, 1, 1}}),
            AllreduceAlgorithm::two_shot_push);
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
    static_cast<void>(
        choose_allreduce(apart, {.algorithm = AllreduceAlgorithm::two_shot}, "SELVAGE_ALLREDUCE"));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(error.message(),
              "allreduce algorithm two_shot, forced by SELVAGE_ALLREDUCE, is not possible: rank 2 is on "
              "another host "
              "than rank 0");
  }
}

TEST(AllreduceChoice, CombinesGpusOfSeveralHostsByHosts) {
  AllreduceFacts facts{.ranks = 4,
                       .bytes = 1 << 20,
                       .on_host = false,
                       .hosts = {{0, 1}, {2, 3}},
                       .mapping_refusal = "rank 2 is on another host than rank 0"};
  EXPECT_EQ(choice(facts), AllreduceAlgorithm::hierarchical);
  facts.hosts = {{0, 1, 2}, {3}};
  const ChosenAllreduce uneven = choose_allreduce(facts, {}, {});
  EXPECT_EQ(uneven.entry->algorithm, AllreduceAlgorithm::mpi);
  EXPECT_NE(uneven.why.find("not hierarchical: groups have 3 and 1 ranks"), std::string::npos) << uneven.why;
  facts.hosts = {{0, 2}, {1, 3}};
  facts.hierarchy_refusal = "ranks of host 0 don't follow each other";
  EXPECT_EQ(choice(facts), AllreduceAlgorithm::mpi);
}

TEST(AllreduceChoice, RefusesNcclWhereRanksShareAGpu) {
  AllreduceFacts facts{
      .ranks = 4, .bytes = 1024, .on_host = false, .hosts = {{0, 1}, {2, 3}}, .gpus = {0, 1, 0, 1}};
  const std::string sharing = "ranks 0 and 2 share a GPU, and NCCL takes one rank on each";
  const AllreduceOptions nccl{.algorithm = AllreduceAlgorithm::nccl, .allow_reordering = true};
  const AllreduceOptions between{.algorithm = AllreduceAlgorithm::hierarchical,
                                 .allow_reordering = true,
                                 .outer = AllreduceAlgorithm::nccl};
  EXPECT_NE(refusal(facts, nccl).find(sharing), std::string::npos);
  EXPECT_NE(refusal(facts, between).find(sharing), std::string::npos);
  // Between hosts each GPU is there once.
  facts.gpus = {0, 0, 2, 2};
  EXPECT_EQ(refusal(facts, between).find("share a GPU"), std::string::npos);
}

TEST(AllreduceChoice, HasALevelInsideGpusThatRanksShare) {
  const AllreduceOptions levels{.algorithm = AllreduceAlgorithm::hierarchical,
                                .allow_reordering = true,
                                .outer = AllreduceAlgorithm::two_shot};
  AllreduceFacts facts{
      .ranks = 4, .bytes = 1024, .on_host = false, .hosts = {{0, 1, 2, 3}}, .gpus = {0, 1, 0, 1}};
  const auto why = [&](const AllreduceOptions& options) { return refusal(facts, options); };
  EXPECT_EQ(why(levels), "none: forced by a test");
  AllreduceOptions threes = levels;
  threes.group_size = 3;
  EXPECT_NE(why(threes).find("groups have 3 and 1 ranks"), std::string::npos) << why(threes);
  facts.gpus = {0, 0, 0, 3};
  EXPECT_NE(why(levels).find("groups have 3 and 1 ranks"), std::string::npos) << why(levels);
  facts.gpus = {0, 0, 0, 0};
  EXPECT_NE(why(levels).find("all ranks are in one group"), std::string::npos) << why(levels);
  AllreduceOptions pipelined = levels;
  pipelined.algorithm = AllreduceAlgorithm::pipelined;
  EXPECT_NE(why(pipelined).find("two_shot between groups is for hierarchical"), std::string::npos);
  facts.gpus = {0, 0, 2, 2};
  facts.mapping_refusal = "rank 2 is on another host than rank 0";
  EXPECT_NE(why(levels).find(facts.mapping_refusal), std::string::npos) << why(levels);
  facts.on_host = true;
  EXPECT_NE(why(levels).find("is for GPUs"), std::string::npos) << why(levels);
}

TEST(AllreduceChoice, LeavesMoreRanksThanKernelsNameToMpi) {
  EXPECT_EQ(choice({.ranks = 9, .bytes = 1024, .on_host = false, .hosts = {{0, 1, 2, 3, 4, 5, 6, 7, 8}}}),
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
  const ChosenAllreduce chosen =
      choose_allreduce(facts, {.algorithm = AllreduceAlgorithm::two_shot}, "SELVAGE_ALLREDUCE");
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
            "at most 1024 bytes between 4 ranks; a row; not telepathy: this version doesn't have it");
  const AllreduceFacts outside{.ranks = 4, .bytes = 1 << 20, .advice = {.why = "some.json has no such row"}};
  EXPECT_EQ(choose_allreduce(outside, {}, {}).entry->algorithm, AllreduceAlgorithm::two_shot);
  EXPECT_EQ(choose_allreduce(outside, {}, {}).why,
            "more than 1024 bytes between 4 ranks; not pipelined: on one host two_shot moves 1.5 times the "
            "elements, leaders 2 times; "
            "some.json has no such row");
}

TEST(AllreduceChoice, NamesWhatAllowsAnotherOrder) {
  const AllreduceFacts facts{.ranks = 4, .bytes = 1024};
  for (const auto algorithm :
       {AllreduceAlgorithm::binomial_tree, AllreduceAlgorithm::recursive_doubling, AllreduceAlgorithm::ring,
        AllreduceAlgorithm::segmented_ring, AllreduceAlgorithm::pipelined}) {
    EXPECT_EQ(
        refusal(facts, {.algorithm = algorithm}),
        "allreduce algorithm " + std::string(to_string(algorithm)) +
            ", forced by a test, is not possible: it combines in another order than by rank, on which the "
            "bits of a result depend: the option allow_reordering, or SELVAGE_ALLREDUCE_REORDERING=yes, "
            "allows that");
    EXPECT_EQ(refusal(facts, {.algorithm = algorithm, .allow_reordering = true}), "none: forced by a test");
  }
}

TEST(AllreduceChoice, KnowsWhatIsInRankOrder) {
  const AllreduceFacts facts{.ranks = 4, .bytes = 1024};
  for (const auto algorithm :
       {AllreduceAlgorithm::one_shot, AllreduceAlgorithm::two_shot, AllreduceAlgorithm::shared_buffer_tree,
        AllreduceAlgorithm::hierarchical, AllreduceAlgorithm::mpi})
    EXPECT_EQ(refusal(facts, {.algorithm = algorithm}), "none: forced by a test");
  AllreduceOptions by_levels{.algorithm = AllreduceAlgorithm::hierarchical,
                             .outer = AllreduceAlgorithm::ring};
  EXPECT_NE(refusal(facts, by_levels).find("the option allow_reordering"), std::string::npos);
  by_levels.allow_reordering = true;
  EXPECT_EQ(refusal(facts, by_levels), "none: forced by a test");
}

TEST(AllreduceChoice, KeepsASharedBufferInsideAHost) {
  const AllreduceFacts apart{
      .ranks = 4, .bytes = 1024, .mapping_refusal = "rank 2 is on another host than rank 0"};
  EXPECT_NE(refusal(apart, {.algorithm = AllreduceAlgorithm::shared_buffer_tree}).find(apart.mapping_refusal),
            std::string::npos);
  EXPECT_EQ(refusal(apart, {.algorithm = AllreduceAlgorithm::binomial_tree, .allow_reordering = true}),
            "none: forced by a test");
}

/// Levels need no order of hosts.
TEST(AllreduceChoice, CombinesByLevelsWhateverTheOrderOfHosts) {
  const AllreduceFacts mixed{.ranks = 4,
                             .bytes = 1024,
                             .mapping_refusal = "rank 1 is on another host than rank 0",
                             .hierarchy_refusal = "ranks of host 0 don't follow each other"};
  EXPECT_NE(refusal(mixed, {.algorithm = AllreduceAlgorithm::hierarchical}).find(mixed.hierarchy_refusal),
            std::string::npos);
  EXPECT_EQ(refusal(mixed, {.algorithm = AllreduceAlgorithm::hierarchical,
                            .allow_reordering = true,
                            .inner = AllreduceAlgorithm::binomial_tree}),
            "none: forced by a test");
}

TEST(AllreduceChoice, LeavesSharedMemoryToHosts) {
  const AllreduceFacts gpus{.ranks = 4,
                            .bytes = 1024,
                            .on_host = false,
                            .hosts = {{0, 1}, {2, 3}},
                            .hierarchy_refusal = "it is not for GPUs"};
  for (const auto algorithm : {AllreduceAlgorithm::shared_buffer_tree, AllreduceAlgorithm::binomial_tree,
                               AllreduceAlgorithm::hierarchical}) {
    EXPECT_NE(refusal(gpus, {.algorithm = algorithm, .allow_reordering = true}).find("it is not for GPUs"),
              std::string::npos);
  }
  for (const auto algorithm :
       {AllreduceAlgorithm::mpi, AllreduceAlgorithm::ring, AllreduceAlgorithm::segmented_ring,
        AllreduceAlgorithm::recursive_doubling, AllreduceAlgorithm::pipelined})
    EXPECT_EQ(refusal(gpus, {.algorithm = algorithm, .allow_reordering = true}), "none: forced by a test");
}

TEST(AllreduceChoice, CombinesGroupsOfGpusByTwoShotOnly) {
  const auto refused = [](const std::vector<std::vector<int>>& hosts, const AllreduceOptions& options) {
    return refusal({.ranks = 4, .bytes = 1024, .on_host = false, .hosts = hosts}, options);
  };
  using enum AllreduceAlgorithm;
  const AllreduceOptions by_levels{.algorithm = hierarchical,
                                   .allow_reordering = true,
                                   .inner = two_shot,
                                   .outer = AllreduceAlgorithm::mpi};
  EXPECT_EQ(refused({{0, 1}, {2, 3}}, by_levels), "none: forced by a test");
  EXPECT_NE(
      refused(
          {{0, 1}, {2, 3}},
          {.algorithm = hierarchical, .allow_reordering = true, .inner = shared_buffer_tree, .outer = ring})
          .find("GPUs of a group combine by two_shot, not by shared_buffer_tree"),
      std::string::npos);
  EXPECT_NE(refused({{0, 1, 2, 3}}, by_levels).find("all ranks are in one group"), std::string::npos);
  EXPECT_NE(refused({{0}, {1, 2, 3}}, by_levels).find("groups have 1 and 3 ranks"), std::string::npos);
  EXPECT_NE(refused({{0, 2}, {1, 3}}, {.algorithm = pipelined, .allow_reordering = true, .group_size = 2})
                .find("the group of rank 0 is not on one host"),
            std::string::npos);
  const AllreduceFacts hosts{.ranks = 4, .bytes = 1024, .hosts = {{0, 1}, {2, 3}}};
  EXPECT_NE(refusal(hosts, by_levels).find("two_shot inside a group is for GPUs"), std::string::npos);
  EXPECT_NE(refusal(hosts, {.algorithm = nccl, .allow_reordering = true}).find("it is for GPUs"),
            std::string::npos);
}

TEST(AllreduceChoice, SaysWhyOneHostHasNoLeaders) {
  const AllreduceFacts flat{.ranks = 4, .bytes = 1 << 20};
  const std::string why = choose_allreduce(flat, {.allow_reordering = true}, {}).why;
  EXPECT_NE(why.find("not pipelined: on one host two_shot moves 1.5 times the elements, leaders 2 times"),
            std::string::npos)
      << why;
}

}  // namespace
}  // namespace selvage::detail
