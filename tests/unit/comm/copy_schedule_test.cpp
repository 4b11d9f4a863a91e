#include "proxy/copies/copy_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace selvage::detail {
namespace {

using enum CopyMechanism;
using Assignment = CopySchedule::Assignment;

std::vector<Assignment> take_all(CopySchedule& schedule) {
  std::vector<Assignment> taken;
  while (const auto next = schedule.next()) taken.push_back(*next);
  return taken;
}
CopySchedule ready(CopySchedule schedule, int copies) {
  for (int copy = 0; copy < copies; ++copy) schedule.set_ready(copy);
  return schedule;
}
std::vector<CopyMechanism> mechanisms(const std::vector<Assignment>& assignments) {
  std::vector<CopyMechanism> result;
  for (const Assignment& assignment : assignments) result.push_back(assignment.mechanism);
  return result;
}

TEST(CopySchedule, GivesTheFirstTwoArrivalsOneOfEach) {
  auto schedule = CopySchedule::make_dynamic(5);
  EXPECT_FALSE(schedule.next());
  schedule.set_ready(3);
  EXPECT_EQ(schedule.next(), (Assignment{3, direct}));
  EXPECT_FALSE(schedule.next());
  schedule.set_ready(1);
  schedule.set_ready(0);
  EXPECT_EQ(schedule.next(), (Assignment{1, staged}));
  EXPECT_FALSE(schedule.next());
  EXPECT_EQ(schedule.state(0), CopySchedule::State::ready);
  EXPECT_EQ(schedule.state(1), CopySchedule::State::started);
  EXPECT_EQ(schedule.state(2), CopySchedule::State::init);
}

TEST(CopySchedule, GivesTwoToTheDifferenceToTheFasterMechanism) {
  auto schedule = ready(CopySchedule::make_dynamic(40), 40);
  const auto first = take_all(schedule);
  ASSERT_EQ(mechanisms(first), (std::vector{direct, staged}));
  schedule.complete(first[0]);  // 1 - 0
  auto more = take_all(schedule);
  ASSERT_EQ(mechanisms(more), std::vector(2, direct));
  schedule.complete(more[0]);  // 2 - 0
  EXPECT_EQ(mechanisms(take_all(schedule)), std::vector(4, direct));
  schedule.complete(more[1]);  // 3 - 0
  more = take_all(schedule);
  ASSERT_EQ(mechanisms(more), std::vector(8, direct));
  schedule.complete(first[1]);  // 1 - 3: slow, and yet it may go on
  EXPECT_EQ(mechanisms(take_all(schedule)), std::vector(1, staged));
  schedule.complete(more[0]);  // 4 - 1
  EXPECT_EQ(mechanisms(take_all(schedule)), std::vector(8, direct));
}

TEST(CopySchedule, GivesOneWhereBothHaveCompletedAsMany) {
  auto schedule = ready(CopySchedule::make_dynamic(9), 9);
  const auto first = take_all(schedule);
  schedule.complete(first[0]);
  EXPECT_EQ(take_all(schedule).size(), 2U);
  schedule.complete(first[1]);  // 1 - 1
  EXPECT_EQ(mechanisms(take_all(schedule)), std::vector(1, staged));
}

TEST(CopySchedule, GivesNoMoreThanThereAre) {
  auto schedule = ready(CopySchedule::make_dynamic(4), 4);
  auto taken = take_all(schedule);
  schedule.complete(taken[1]);  // 1 - 0 of staged: two more, which are all
  taken = take_all(schedule);
  EXPECT_EQ(mechanisms(taken), std::vector(2, staged));
  schedule.complete(taken[0]);
  EXPECT_FALSE(schedule.next());
}

TEST(CopySchedule, KeepsGrantsForThoseWhoComeLater) {
  auto schedule = CopySchedule::make_dynamic(4);
  schedule.set_ready(0);
  schedule.set_ready(1);
  const auto first = take_all(schedule);
  schedule.complete(first[0]);
  EXPECT_FALSE(schedule.next());
  schedule.set_ready(2);
  EXPECT_EQ(schedule.next(), (Assignment{2, direct}));
  schedule.set_ready(3);
  EXPECT_EQ(schedule.next(), (Assignment{3, direct}));
}

TEST(CopySchedule, SendsTheLastAgainWhereItsMechanismNeverCompleted) {
  auto schedule = ready(CopySchedule::make_dynamic(4), 4);
  const auto first = take_all(schedule);
  const Assignment lingering = first[1];
  schedule.complete(first[0]);
  const auto more = take_all(schedule);
  ASSERT_EQ(more.size(), 2U);
  schedule.complete(more[0]);
  EXPECT_FALSE(schedule.next());  // two are pending
  EXPECT_FALSE(schedule.is_obsolete(lingering));
  schedule.complete(more[1]);
  const Assignment again{lingering.copy, direct};
  EXPECT_EQ(schedule.next(), again);
  EXPECT_FALSE(schedule.next());
  EXPECT_TRUE(schedule.is_obsolete(lingering));
  EXPECT_FALSE(schedule.is_obsolete(again));
  EXPECT_FALSE(schedule.is_complete());
  schedule.complete(again);
  EXPECT_TRUE(schedule.is_complete());
  EXPECT_FALSE(schedule.is_drained());
  EXPECT_TRUE(schedule.is_slow(staged));
  schedule.complete(lingering);
  EXPECT_TRUE(schedule.is_drained());
  EXPECT_TRUE(schedule.is_slow(staged)) << "what comes after its twin tells nothing";
}

TEST(CopySchedule, LetsTheLastGoOnWhereItsMechanismHasCompletedOthers) {
  auto schedule = ready(CopySchedule::make_dynamic(3), 3);
  const auto first = take_all(schedule);
  schedule.complete(first[1]);
  const auto more = take_all(schedule);
  ASSERT_EQ(mechanisms(more), std::vector(1, staged));
  schedule.complete(first[0]);
  EXPECT_FALSE(schedule.next());
}

TEST(CopySchedule, SendsAnOnlyCopyOnce) {
  auto schedule = ready(CopySchedule::make_dynamic(1), 1);
  const auto first = take_all(schedule);
  ASSERT_EQ(first, (std::vector{Assignment{0, direct}}));
  schedule.complete(first[0]);
  EXPECT_TRUE(schedule.is_drained());
  EXPECT_TRUE(CopySchedule::make_dynamic(0).is_drained());
}

TEST(CopySchedule, LeavesASlowMechanismOutOfTheNextStage) {
  auto schedule = ready(CopySchedule::make_dynamic(2), 2);
  const auto first = take_all(schedule);
  schedule.complete(first[0]);
  const auto again = take_all(schedule);
  ASSERT_EQ(again, (std::vector{Assignment{1, direct}}));
  schedule.complete(again[0]);
  schedule.complete(first[1]);
  ASSERT_TRUE(schedule.is_drained());
  schedule.begin_stage(6);
  schedule = ready(schedule, 6);
  auto taken = take_all(schedule);
  while (!taken.empty()) {
    for (const Assignment& assignment : taken) {
      EXPECT_EQ(assignment.mechanism, direct);
      schedule.complete(assignment);
    }
    taken = take_all(schedule);
  }
  EXPECT_TRUE(schedule.is_drained());
}

TEST(CopySchedule, TakesAsManyAsATableSays) {
  auto schedule = CopySchedule::make_static(5, 2);
  for (const int copy : {4, 0, 1, 3, 2}) schedule.set_ready(copy);
  const auto taken = take_all(schedule);
  EXPECT_EQ(taken,
            (std::vector<Assignment>{{4, staged}, {0, staged}, {1, direct}, {3, direct}, {2, direct}}));
  for (const Assignment& assignment : taken) schedule.complete(assignment);
  EXPECT_TRUE(schedule.is_drained());
  auto all_staged = ready(CopySchedule::make_static(2, 9), 2);
  EXPECT_EQ(mechanisms(take_all(all_staged)), std::vector(2, staged));
}

/// Whatever comes in whatever order: each copy completes, and each is started once, but for a last one.
TEST(CopySchedule, EndsInAnyOrderOfArrivalsAndCompletions) {
  std::minstd_rand random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    const int copies = static_cast<int>(random() % 30);
    auto schedule = CopySchedule::make_dynamic(copies);
    std::vector<int> coming(copies);
    for (int i = 0; i < copies; ++i) coming[i] = i;
    std::ranges::shuffle(coming, random);
    std::vector<Assignment> underway;
    std::vector<int> starts(copies);
    for (int step = 0; step < 1000 && !schedule.is_drained(); ++step) {
      if (!coming.empty() && random() % 2 == 0) {
        schedule.set_ready(coming.back());
        coming.pop_back();
      }
      for (const Assignment& assignment : take_all(schedule)) {
        ++starts[assignment.copy];
        underway.push_back(assignment);
      }
      if (underway.empty() || random() % 2 == 0) continue;
      const auto done = underway.begin() + static_cast<std::ptrdiff_t>(random() % underway.size());
      schedule.complete(*done);
      underway.erase(done);
    }
    ASSERT_TRUE(schedule.is_drained()) << copies;
    ASSERT_TRUE(underway.empty());
    ASSERT_TRUE(std::ranges::all_of(starts, [](int count) { return count == 1 || count == 2; }));
    ASSERT_LE(std::ranges::count(starts, 2), 1);
  }
}

}  // namespace
}  // namespace selvage::detail
