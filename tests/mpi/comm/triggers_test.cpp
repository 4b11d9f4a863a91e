#include "limits.hpp"
#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/trigger.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>

namespace selvage::test {
namespace {

using Team = Kokkos::TeamPolicy<Space>::member_type;
using Words = Kokkos::View<std::uint64_t*, Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// How triggers are shared out over the items of a league, see TriggerPort.
enum class Granularity { item, team, kernel, mixed, leaderless };

constexpr int teams = 6;
constexpr int items_per_team = 8;
constexpr int items = teams * items_per_team;
constexpr int items_per_mix = 4;

struct Plan {
  int messages;
  int items_per_message;
  std::uint64_t threshold;
};
Plan plan_of(Granularity granularity) {
  switch (granularity) {
    case Granularity::item:
      return {items, 1, 1};
    case Granularity::team:
      return {teams, items_per_team, 1};
    case Granularity::kernel:
      return {1, items, teams};
    case Granularity::mixed:
      return {items / items_per_mix, items_per_mix, items_per_mix};
    default:
      return {1, items, items};
  }
}

/// Each item writes its word of the message, then the granularity's items fire.
struct WriteAndFire {
  TriggerPort port;
  Words source;
  Granularity granularity;
  std::uint64_t epoch;
  std::uint64_t rank;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int first = team.league_rank() * items_per_team;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, items_per_team), [&](int i) {
      const auto item = static_cast<std::uint32_t>(first + i);
      source(item) = rank * 1'000'000 + epoch * 1000 + item;
      if (granularity == Granularity::item) static_cast<void>(port.fire({item, epoch}));
      if (granularity == Granularity::mixed) static_cast<void>(port.fire({item / items_per_mix, epoch}));
      if (granularity == Granularity::leaderless) static_cast<void>(port.fire({0, epoch}));
    });
    const auto league_rank = static_cast<std::uint32_t>(team.league_rank());
    if (granularity == Granularity::team) port.fire_team(team, {league_rank, epoch});
    if (granularity == Granularity::kernel) port.fire_team(team, {0, epoch});
  }
};

/// Waits inside the kernel for the arrival counter of each message, and until this rank's own messages have
/// left; counts words that are not the neighbour's.
struct WaitAndCheck {
  TriggerPort port;
  Words arrived;
  Words landed;
  int items_per_message;
  std::uint64_t epoch;
  std::uint64_t left_rank;

  KOKKOS_FUNCTION void operator()(int message, int& wrong) const {
    if (!detail::poll_until(detail::HasReached{&arrived(message), epoch}, port.timeout_ns)) wrong += 1000;
    if (!port.wait_complete({static_cast<std::uint32_t>(message), epoch})) wrong += 100'000;
    for (int i = 0; i < items_per_message; ++i) {
      const auto item = static_cast<std::uint64_t>(message * items_per_message + i);
      if (landed(item) != left_rank * 1'000'000 + epoch * 1000 + item) ++wrong;
    }
  }
};

class TriggersTest : public testing::Test {
 protected:
  [[nodiscard]] int right() const { return (context_.rank() + 1) % context_.size(); }
  [[nodiscard]] int left() const { return (context_.rank() + context_.size() - 1) % context_.size(); }
  /// The window: arrival counters, then where messages land, then where they are written; `items` words each.
  [[nodiscard]] Words part(int index) const {
    return Words(reinterpret_cast<std::uint64_t*>(window_.data()) + index * items, items);
  }
  [[nodiscard]] Triggers::Transfer message(int index, int words) const {
    return {.window = &window_,
            .target = right(),
            .local = part(2).data() + index * words,
            .bytes = words * word,
            .unit_bytes = word,
            .offset = (items + index * words) * word,
            .arrival = index * word};
  }
  void fire(Granularity granularity, std::uint64_t epoch) const {
    Kokkos::parallel_for("fire", Kokkos::TeamPolicy<Space>(space_, teams, 1),
                         WriteAndFire{triggers_.device(), part(2), granularity, epoch,
                                      static_cast<std::uint64_t>(context_.rank())});
  }
  [[nodiscard]] int count_wrong(const Plan& plan, std::uint64_t epoch) const {
    int wrong = 0;
    Kokkos::parallel_reduce("wait", Kokkos::RangePolicy<Space>(space_, 0, plan.messages),
                            WaitAndCheck{triggers_.device(), part(0), part(1), plan.items_per_message, epoch,
                                         static_cast<std::uint64_t>(left())},
                            wrong);
    return wrong;
  }
  void expect_nothing_left_over() {
    EXPECT_NO_THROW(triggers_.check());
    const auto left_over = triggers_.leftovers();
    EXPECT_EQ(left_over.surplus, 0U);
    EXPECT_EQ(left_over.orphaned, 0U);
    EXPECT_EQ(left_over.unfinished, 0U);
  }

  const Space space_;
  const Context context_{MPI_COMM_WORLD};
  Window window_{space_, context_, 3 * items * sizeof(std::uint64_t)};
  Triggers triggers_{space_, context_, {.ids = 64, .ring_entries = 16}};
};

/// One test per granularity: the messages are the same, cut differently.
class TriggersInARing : public TriggersTest, public testing::WithParamInterface<Granularity> {};

TEST_P(TriggersInARing, FireEachMessageOncePerEpoch) {
  const Plan plan = plan_of(GetParam());
  for (int i = 0; i < plan.messages; ++i) {
    triggers_.add_for_all_epochs(i, message(i, plan.items_per_message), plan.threshold);
  }
  for (std::uint64_t epoch = 1; epoch <= 30; ++epoch) {
    fire(GetParam(), epoch);
    ASSERT_EQ(on_all_ranks(count_wrong(plan, epoch)), 0) << "epoch " << epoch;
  }
  expect_nothing_left_over();
}

TEST_P(TriggersInARing, MayBeRegisteredBeforeDuringOrAfterTheKernel) {
  const Plan plan = plan_of(GetParam());
  std::minstd_rand random(1 + context_.rank());
  for (std::uint64_t epoch = 1; epoch <= 30; ++epoch) {
    const auto add = [&](int from, int to) {
      for (int i = from; i < to; ++i) {
        triggers_.add({static_cast<std::uint32_t>(i), epoch}, message(i, plan.items_per_message),
                      plan.threshold);
      }
    };
    const int before = static_cast<int>(random() % (plan.messages + 1));
    add(0, before);
    fire(GetParam(), epoch);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    add(before, plan.messages);
    ASSERT_EQ(on_all_ranks(count_wrong(plan, epoch)), 0) << "epoch " << epoch << ", " << before << " before";
  }
  expect_nothing_left_over();
}

std::string name_of_granularity(const testing::TestParamInfo<Granularity>& tested) {
  constexpr const char* names[] = {"Item", "Team", "Kernel", "Mixed", "Leaderless"};
  return names[static_cast<int>(tested.param)];
}
INSTANTIATE_TEST_SUITE_P(Every, TriggersInARing,
                         testing::Values(Granularity::item, Granularity::team, Granularity::kernel,
                                         Granularity::mixed, Granularity::leaderless),
                         name_of_granularity);

struct FireMany {
  TriggerPort port;
  std::uint32_t ids;
  KOKKOS_FUNCTION void operator()(int i) const {
    static_cast<void>(port.fire({static_cast<std::uint32_t>(i) % ids, 1}));
  }
};

TEST_F(TriggersTest, LoseNoneOfThousandsInOneBurst) {
  constexpr int burst = 50'000;
  constexpr std::uint32_t ids = 20;
  Triggers triggers(space_, context_, {.ids = ids, .ring_entries = 64});
  for (std::uint32_t id = 0; id < ids; ++id) triggers.add({id, 1}, message(id, 1), burst / ids);
  Kokkos::parallel_for("burst", Kokkos::RangePolicy<Space>(space_, 0, burst),
                       FireMany{triggers.device(), ids});
  int wrong = 0;
  for (std::uint32_t id = 0; id < ids; ++id) wrong += triggers.device().wait_complete({id, 1}) ? 0 : 1;
  EXPECT_EQ(on_all_ranks(wrong), 0);
  triggers.check();
  EXPECT_EQ(triggers.leftovers().surplus + triggers.leftovers().unfinished, 0U);
}

TEST_F(TriggersTest, CountWhatComesTooOften) {
  triggers_.add({0, 1}, message(0, 1), 10);
  Kokkos::parallel_for("burst", Kokkos::RangePolicy<Space>(space_, 0, 25), FireMany{triggers_.device(), 1});
  space_.fence();
  EXPECT_TRUE(triggers_.device().wait_complete({0, 1}));
  EXPECT_EQ(triggers_.leftovers().surplus, 15U);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// The kernel finds out how long the message is and who gets it.
struct FireDynamic {
  TriggerPort port;
  Words source;
  std::uint32_t length;
  std::uint32_t target;
  KOKKOS_FUNCTION void operator()(int) const {
    for (std::uint32_t i = 0; i < length; ++i) source(i) = 7000 + length * 100 + i;
    static_cast<void>(port.fire_target({5, length}, target));
    static_cast<void>(port.fire_length({5, length}, length));
  }
};
struct WaitForMany {
  TriggerPort port;
  Words arrived;
  Words landed;
  std::uint32_t length;
  KOKKOS_FUNCTION void operator()(const Team& team, int& wrong) const {
    if (!port.wait_until(team, &arrived(0), length)) wrong += 1000;
    for (std::uint32_t i = 0; i < length; ++i) wrong += landed(i) == 7000 + length * 100 + i ? 0 : 1;
    for (std::uint32_t i = length; i < items; ++i) wrong += landed(i) == 0 ? 0 : 1;
  }
};

TEST_F(TriggersTest, TakeLengthAndTargetFromTheKernel) {
  Triggers::Transfer longest = message(0, items);
  longest.target = 0;
  triggers_.add_for_all_epochs(5, longest, 2);
  for (std::uint32_t length = 1; length <= 20; ++length) {
    Kokkos::parallel_for(
        "fire", Kokkos::RangePolicy<Space>(space_, 0, 1),
        FireDynamic{triggers_.device(), part(2), length, static_cast<std::uint32_t>(right())});
    int wrong = 0;
    Kokkos::parallel_reduce("wait", Kokkos::TeamPolicy<Space>(space_, 1, 1),
                            WaitForMany{triggers_.device(), part(0), part(1), length}, wrong);
    ASSERT_EQ(on_all_ranks(wrong), 0) << length;
  }
  expect_nothing_left_over();
}

TEST_F(TriggersTest, LetTeamsGoOnWithoutWhatNeverComes) {
  TriggerPort port = triggers_.device();
  port.timeout_ns = 1'000'000;
  int wrong = 0;
  Kokkos::parallel_reduce("wait", Kokkos::TeamPolicy<Space>(space_, 1, 1),
                          WaitForMany{port, part(0), part(1), 1}, wrong);
  EXPECT_EQ(wrong, 1001);
}

TEST_F(TriggersTest, FetchFromTheTarget) {
  Kokkos::deep_copy(part(2), 100 + static_cast<std::uint64_t>(context_.rank()));
  space_.fence();
  MPI_Barrier(MPI_COMM_WORLD);
  Triggers::Transfer transfer = message(0, items);
  transfer.kind = Triggers::Transfer::Kind::get;
  transfer.arrival.reset();
  transfer.local = part(1).data();
  transfer.offset = 2 * items * sizeof(std::uint64_t);
  triggers_.add({0, 1}, transfer, 1);
  Kokkos::parallel_for("fire", Kokkos::RangePolicy<Space>(space_, 0, 1), FireMany{triggers_.device(), 1});
  EXPECT_TRUE(triggers_.device().wait_complete({0, 1}));
  const auto fetched = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part(1));
  for (int i = 0; i < items; ++i) ASSERT_EQ(fetched(i), 100U + right());
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(TriggersTest, ReportWhatTheProxyMeets) {
  Triggers::Transfer transfer = message(0, 1);
  EXPECT_EQ(thrown_by([&] { triggers_.add({64, 1}, transfer, 1); })->kind(), ErrorKind::usage);
  transfer.bytes = window_.bytes();
  EXPECT_EQ(thrown_by([&] { triggers_.add({0, 1}, transfer, 1); })->kind(), ErrorKind::usage);
  Kokkos::parallel_for("fire", Kokkos::RangePolicy<Space>(space_, 99, 100),
                       FireMany{triggers_.device(), 1000});
  std::optional<Error> met;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!met && std::chrono::steady_clock::now() < end) met = thrown_by([&] { triggers_.check(); });
  ASSERT_TRUE(met);
  EXPECT_NE(met->message().find("trigger id 99: there are 64"), std::string::npos) << met->message();
  MPI_Barrier(MPI_COMM_WORLD);
}

struct FireAt {
  TriggerPort port;
  std::uint64_t epoch;
  std::uint32_t target;
  KOKKOS_FUNCTION void operator()(int, int& late) const {
    static_cast<void>(port.fire_target({6, epoch}, target));
    if (!port.wait_complete({6, epoch})) ++late;
  }
};
struct AwaitWord {
  Words words;
  std::uint64_t value;
  std::uint64_t timeout_ns;
  KOKKOS_FUNCTION void operator()(int, int& late) const {
    if (!detail::poll_until(detail::HasReached{&words(0), value}, timeout_ns)) ++late;
  }
};

/// What can't be done is over at once, the host finds the error as soon as the kernel has ended, and later epochs go on.
TEST_F(TriggersTest, GoOnBehindEpochsThatCannotBeDone) {
  triggers_.add_for_all_epochs(6, message(0, items), 1);
  Kokkos::deep_copy(part(2), 9);
  const auto fire_at = [&](std::uint64_t epoch, int target) {
    int late = 0;
    const FireAt fire{triggers_.device(), epoch, static_cast<std::uint32_t>(target)};
    Kokkos::parallel_reduce("fire", Kokkos::RangePolicy<Space>(space_, 0, 1), fire, late);
    return late;
  };
  constexpr std::uint64_t in_vain = 300;
  int found = 0;
  for (std::uint64_t epoch = 1; epoch <= in_vain; ++epoch) {
    ASSERT_EQ(fire_at(epoch, 1000), 0) << epoch;
    const auto met = thrown_by([&] { triggers_.check(); });
    if (met && met->message().find("a transfer to rank 1000 of ") != std::string::npos) ++found;
  }
  EXPECT_EQ(found, static_cast<int>(in_vain));
  EXPECT_EQ(fire_at(in_vain + 1, right()), 0);
  int late = 0;
  Kokkos::parallel_reduce("wait", Kokkos::RangePolicy<Space>(space_, 0, 1),
                          AwaitWord{part(0), in_vain + 1, triggers_.device().timeout_ns}, late);
  EXPECT_EQ(on_all_ranks(late), 0);
  const auto landed = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part(1));
  for (int i = 0; i < items; ++i) ASSERT_EQ(landed(i), 9U);
  expect_nothing_left_over();
}

TEST_F(TriggersTest, WorkWithoutAThreadWhenTheCallerProgresses) {
  const ScopedVariable proxy("SELVAGE_PROXY", "caller");
  const Context context(MPI_COMM_WORLD);
  Window window(space_, context, 3 * items * sizeof(std::uint64_t));
  Triggers triggers(space_, context);
  EXPECT_FALSE(triggers.has_thread());
  Triggers::Transfer transfer = message(0, items);
  transfer.window = &window;
  triggers.add({0, 1}, transfer, 1);
  Kokkos::parallel_for("fire", Kokkos::RangePolicy<Space>(space_, 0, 1), FireMany{triggers.device(), 1});
  space_.fence();
  EXPECT_FALSE(triggers.device().is_complete({0, 1}));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!triggers.device().is_complete({0, 1}) && std::chrono::steady_clock::now() < end)
    triggers.progress();
  EXPECT_TRUE(triggers.device().is_complete({0, 1}));
  // Others may need this rank to answer.
  MPI_Request all_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
  for (int here = 0; here == 0; MPI_Test(&all_here, &here, MPI_STATUS_IGNORE)) triggers.progress();
}

/// Without a thread nobody empties the ring until the caller does.
TEST_F(TriggersTest, ReportWhatFoundNoRoomAndDeliverTheRest) {
  const ScopedVariable proxy("SELVAGE_PROXY", "caller");
  const std::string limit = std::to_string(limit_ms(300));
  const ScopedVariable timeout("SELVAGE_TIMEOUT_MS", limit.c_str());
  const Context context(MPI_COMM_WORLD);
  Window window(space_, context, 3 * items * sizeof(std::uint64_t));
  Triggers triggers(space_, context, {.ids = 8, .ring_entries = 4});
  Triggers::Transfer transfer = message(0, 1);
  transfer.window = &window;
  transfer.target = context.rank();
  for (std::uint32_t id = 0; id < 8; ++id) triggers.add({id, 1}, transfer, 1);
  const auto fire = [&](int begin, int end) {
    Kokkos::parallel_for("fire", Kokkos::RangePolicy<Space>(space_, begin, end),
                         FireMany{triggers.device(), 8});
    space_.fence();
  };
  const auto completes = [&](std::uint32_t begin, std::uint32_t end, int wanted) {
    const auto count = [&] {
      triggers.progress();
      int complete = 0;
      for (std::uint32_t id = begin; id < end; ++id)
        complete += triggers.device().is_complete({id, 1}) ? 1 : 0;
      return complete;
    };
    return detail::poll_until([&] { return count() == wanted; }, 10'000'000'000);
  };
  fire(0, 6);
  EXPECT_TRUE(completes(0, 6, 4));
  const auto met = thrown_by([&] { triggers.check(); });
  ASSERT_TRUE(met);
  EXPECT_EQ(met->kind(), ErrorKind::timeout);
  EXPECT_EQ(met->message(),
            "rank " + std::to_string(context.rank()) +
                " lost 2 triggers of kernels, the first at slot 4: the ring of 4 entries for 8 ids "
                "stayed full for " +
                limit + " ms");
  fire(6, 8);
  EXPECT_TRUE(completes(6, 8, 2)) << "behind the slots that were lost";
  EXPECT_NO_THROW(triggers.check());
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace selvage::test
