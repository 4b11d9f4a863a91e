#include "proxy/trigger_table.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace selvage::detail {
namespace {

constexpr std::uint32_t ids = 32;

NetworkOperation operation_to(int target) {
  return {.kind = NetworkOperation::Kind::put, .target = target, .bytes = 1000, .unit_bytes = 8};
}

TriggerWord trigger(TriggerPort::Tag tag, TriggerKind kind = TriggerKind::count, std::uint32_t argument = 1) {
  return TriggerWord::decode(
      TriggerWord{kind, tag.id, static_cast<std::uint32_t>(tag.epoch), argument}.encode(0));
}

TEST(TriggerWord, KeepsEveryFieldApart) {
  const TriggerWord word{TriggerKind::target, 0xabcd, 0x1234, 0xfedcba9};
  for (const std::uint64_t parity : {0, 1}) {
    const TriggerWord read = TriggerWord::decode(word.encode(parity));
    EXPECT_EQ(word.encode(parity) >> 63, parity);
    EXPECT_EQ(read.kind, word.kind);
    EXPECT_EQ(read.id, word.id);
    EXPECT_EQ(read.epoch, word.epoch);
    EXPECT_EQ(read.argument, word.argument);
  }
}

/// Registers tag 0 or 1 (steps 'a', 'b') or triggers it ('A', 'B'), in the order of `steps`.
std::vector<int> targets_fired(const std::string& steps, std::uint64_t threshold) {
  TriggerTable table(ids);
  std::vector<int> targets;
  for (const char step : steps) {
    const TriggerPort::Tag tag{step == 'a' || step == 'A' ? 0U : 1U, 7};
    const bool registers = step == 'a' || step == 'b';
    const auto fired = registers ? table.add(tag, operation_to(10 + static_cast<int>(tag.id)), threshold)
                                 : table.count(trigger(tag));
    if (fired) targets.push_back(fired->operation.target);
  }
  EXPECT_EQ(table.leftovers().surplus + table.leftovers().orphaned + table.leftovers().unfinished, 0U)
      << steps;
  return targets;
}

TEST(TriggerTable, FiresOnceInEveryInterleavingOfRegisteringAndTriggering) {
  int interleavings = 0;
  for (std::uint64_t threshold = 1; threshold <= 3; ++threshold) {
    std::string steps = "ab" + std::string(threshold, 'A') + std::string(threshold, 'B');
    std::ranges::sort(steps);
    do {
      std::vector<int> fired = targets_fired(steps, threshold);
      // The one whose last step comes first fires first.
      const bool a_first = steps.find_last_of("aA") < steps.find_last_of("bB");
      ASSERT_EQ(fired, a_first ? std::vector<int>({10, 11}) : std::vector<int>({11, 10})) << steps;
      ++interleavings;
    } while (std::ranges::next_permutation(steps).found);
  }
  EXPECT_EQ(interleavings, 24 + 180 + 1120);
}

TEST(TriggerTable, FiresAtTheThresholdAndNotBefore) {
  TriggerTable table(ids);
  EXPECT_FALSE(table.add({3, 1}, operation_to(5), 100));
  for (int i = 0; i < 99; ++i) ASSERT_FALSE(table.count(trigger({3, 1})));
  EXPECT_EQ(table.leftovers().unfinished, 1U);
  const auto fired = table.count(trigger({3, 1}));
  ASSERT_TRUE(fired);
  EXPECT_EQ(fired->tag.id, 3U);
  EXPECT_EQ(fired->tag.epoch, 1U);
  EXPECT_EQ(fired->operation.target, 5);
  EXPECT_EQ(table.leftovers().unfinished, 0U);
}

TEST(TriggerTable, CountsSeveralAtOnce) {
  TriggerTable table(ids);
  EXPECT_FALSE(table.add({3, 1}, operation_to(5), 1000));
  EXPECT_FALSE(table.count(trigger({3, 1}, TriggerKind::count, 999)));
  EXPECT_TRUE(table.count(trigger({3, 1}, TriggerKind::count, 1)));
}

TEST(TriggerTable, CountsSurplusTriggersAndFiresNoMore) {
  TriggerTable table(ids);
  EXPECT_FALSE(table.add({0, 1}, operation_to(5), 1));
  EXPECT_TRUE(table.count(trigger({0, 1})));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(table.count(trigger({0, 1})));
  EXPECT_EQ(table.leftovers().surplus, 3U);
  // Also when a later epoch has taken the entry over.
  EXPECT_FALSE(table.add({0, 5}, operation_to(5), 1));
  EXPECT_FALSE(table.count(trigger({0, 1})));
  EXPECT_EQ(table.leftovers().surplus, 4U);
  EXPECT_TRUE(table.count(trigger({0, 5})));
}

TEST(TriggerTable, ReportsOrphansThatNobodyRegistered) {
  TriggerTable table(ids);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(table.count(trigger({9, 2})));
  EXPECT_EQ(table.leftovers().orphaned, 4U);
  EXPECT_FALSE(table.add({9, 2}, operation_to(1), 5));
  EXPECT_EQ(table.leftovers().orphaned, 0U);
  EXPECT_TRUE(table.count(trigger({9, 2})));
}

TEST(TriggerTable, FiresOncePerEpochAcrossTheWrapOfItsBits) {
  TriggerTable table(ids);
  EXPECT_TRUE(table.add_for_all_epochs(4, operation_to(2), 2).empty());
  for (std::uint64_t epoch = 1; epoch < 200'000; ++epoch) {
    ASSERT_FALSE(table.count(trigger({4, epoch})));
    const auto fired = table.count(trigger({4, epoch}));
    ASSERT_TRUE(fired);
    ASSERT_EQ(fired->tag.epoch, epoch);
  }
  EXPECT_EQ(table.leftovers().surplus, 0U);
}

TEST(TriggerTable, KeepsCountsOfEpochsInFlightApart) {
  TriggerTable table(ids);
  EXPECT_TRUE(table.add_for_all_epochs(4, operation_to(2), 2).empty());
  for (std::uint64_t epoch = 1; epoch <= TriggerTable::epochs_in_flight; ++epoch) {
    EXPECT_FALSE(table.count(trigger({4, epoch})));
  }
  // Epoch 5 would need the entry of epoch 1, which has not fired: refused, not dropped.
  EXPECT_THROW(static_cast<void>(table.count(trigger({4, 5}))), Error);
  for (const std::uint64_t epoch : {3, 1, 4, 2}) {
    const auto fired = table.count(trigger({4, epoch}));
    ASSERT_TRUE(fired);
    EXPECT_EQ(fired->tag.epoch, epoch);
  }
  EXPECT_FALSE(table.count(trigger({4, 5})));
  EXPECT_TRUE(table.count(trigger({4, 5})));
}

TEST(TriggerTable, TakesOrphansOverWhenRegisteredForAllEpochs) {
  TriggerTable table(ids);
  for (const std::uint64_t epoch : {2, 1, 2, 3, 3, 3}) EXPECT_FALSE(table.count(trigger({8, epoch})));
  const auto fired = table.add_for_all_epochs(8, operation_to(2), 2);
  ASSERT_EQ(fired.size(), 2U);
  EXPECT_EQ(fired[0].tag.epoch, 2U);
  EXPECT_EQ(fired[1].tag.epoch, 3U);
  EXPECT_TRUE(table.count(trigger({8, 1})));
}

TEST(TriggerTable, TakesLengthAndTargetFromKernels) {
  TriggerTable table(ids);
  EXPECT_FALSE(table.add({1, 1}, operation_to(0), 3));
  EXPECT_FALSE(table.count(trigger({1, 1}, TriggerKind::length, 40)));
  EXPECT_FALSE(table.count(trigger({1, 1}, TriggerKind::target, 6)));
  const auto fired = table.count(trigger({1, 1}, TriggerKind::length, 2));
  ASSERT_TRUE(fired);
  EXPECT_EQ(fired->operation.bytes, 42U * 8);
  EXPECT_EQ(fired->operation.target, 6);
  // Nothing of it is left for the next epoch.
  EXPECT_FALSE(table.add({1, 1 + TriggerTable::epochs_in_flight}, operation_to(0), 1));
  const auto next = table.count(trigger({1, 1 + TriggerTable::epochs_in_flight}));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->operation.bytes, 1000U);
  EXPECT_EQ(next->operation.target, 0);
}

TEST(TriggerTable, SendsNothingForALengthOfZero) {
  TriggerTable table(ids);
  EXPECT_FALSE(table.add({1, 1}, operation_to(0), 1));
  const auto fired = table.count(trigger({1, 1}, TriggerKind::length, 0));
  ASSERT_TRUE(fired);
  EXPECT_EQ(fired->operation.bytes, 0U);
}

TEST(TriggerTable, RefusesWhatCannotBeRight) {
  TriggerTable table(ids);
  EXPECT_THROW(static_cast<void>(table.add({ids, 1}, operation_to(0), 1)), Error);
  EXPECT_THROW(static_cast<void>(table.count(trigger({ids, 1}))), Error);
  EXPECT_FALSE(table.add({1, 1}, operation_to(0), 1));
  EXPECT_THROW(static_cast<void>(table.add({1, 1}, operation_to(0), 1)), Error);
  EXPECT_THROW(static_cast<void>(table.count(trigger({1, 1}, TriggerKind::length, 126))), Error);
  EXPECT_TRUE(table.add_for_all_epochs(2, operation_to(0), 1).empty());
  EXPECT_THROW(static_cast<void>(table.add_for_all_epochs(2, operation_to(0), 1)), Error);
  EXPECT_THROW(static_cast<void>(table.add({2, 1}, operation_to(0), 1)), Error);
}

}  // namespace
}  // namespace selvage::detail
