#include "message_tags.hpp"
#include "proxy/window_state.hpp"
#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/trigger.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace selvage::test {
namespace {

using HostSpace = Kokkos::DefaultHostExecutionSpace;
using Team = Kokkos::TeamPolicy<Space>::member_type;
using Words = Kokkos::View<std::uint64_t*, Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

constexpr int teams_per_launch = 5;
constexpr int longest = 3000;  // words per team: more than what travels inline

/// What a team finds in the window: a flag word, then where messages land, come from, and are fetched to.
struct TeamMemory {
  std::uint64_t* flag;
  std::uint64_t* landed;
  std::uint64_t* source;
  std::uint64_t* fetched;
};
constexpr std::uint64_t words_per_team = 2 + 3 * longest;
KOKKOS_FUNCTION TeamMemory memory_of(std::uint64_t* window, int team) {
  std::uint64_t* begin = window + team * words_per_team;
  return {begin, begin + 2, begin + 2 + longest, begin + 2 + 2 * longest};
}
KOKKOS_FUNCTION std::uint64_t value(int rank, int team, int round, int i) {
  return (static_cast<std::uint64_t>(rank * 100 + team) * 1000 + round) * 10'000 + i;
}

/// Who talks to whom, through which rings.
struct Talk {
  CommandPort port;
  std::uint64_t* window;
  int rank;
  int right;
  int left;
  int round;
  int words;

  KOKKOS_FUNCTION void fill(const Team& team, const TeamMemory& memory) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, words),
                         [&](int i) { memory.source[i] = value(rank, team.league_rank(), round, i); });
  }
};

/// Every team puts to its like on the right, each way in its turn, and says so by its flag.
struct Put : Talk {
  KOKKOS_FUNCTION void operator()(const Team& team, int& failed) const {
    const CommandPort::Ring context = port.ring(team.league_rank());
    const TeamMemory memory = memory_of(window, team.league_rank());
    const std::uint64_t bytes = words * word;
    fill(team, memory);
    bool done = true;
    if (round % 3 == 0) {
      done = context.put(team, memory.landed, memory.source, bytes, right) && context.quiet(team);
      done = done && context.put_value(team, memory.flag, round, right);
    } else if (round % 3 == 1) {
      const int half = words / 2;
      done = context.put_nbi(team, memory.landed, memory.source, half * word, right) &&
             context.put_nbi(team, memory.landed + half, memory.source + half, bytes - half * word, right);
      done = done && context.quiet(team) && context.put_value(team, memory.flag, round, right);
    } else {
      done = context.put_signal(team, memory.landed, memory.source, bytes, memory.flag, round, right);
    }
    // The source is written again in the next round.
    done = done && context.quiet(team);
    if (!done) Kokkos::single(Kokkos::PerTeam(team), [&] { failed += 1; });
  }
};

/// Waits in the kernel for the left neighbour's flag, then counts wrong words; then fetches the right
/// neighbour's source and counts those.
struct WaitAndGet : Talk {
  KOKKOS_FUNCTION void operator()(const Team& team, int& wrong) const {
    const CommandPort::Ring context = port.ring(team.league_rank());
    const TeamMemory memory = memory_of(window, team.league_rank());
    const bool came = context.wait_until(team, memory.flag, round);
    const std::uint64_t bytes = words * word;
    bool got = false;
    if (round % 2 == 0) {
      got = context.get(team, memory.fetched, memory.source, bytes, right);
    } else {
      got = context.get_nbi(team, memory.fetched, memory.source, bytes, right) && context.quiet(team);
    }
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      wrong += (came ? 0 : 1'000'000) + (got ? 0 : 10'000'000);
      for (int i = 0; i < words; ++i) {
        if (memory.landed[i] != value(left, team.league_rank(), round, i)) ++wrong;
        if (memory.fetched[i] != value(right, team.league_rank(), round, i)) ++wrong;
      }
    });
  }
};

/// How many threads serve the rings, and where those lie: for kernels of host spaces there is but one memory.
struct Service {
  int threads;
  bool slots_on_device;
};

class CommandQueueTest : public testing::TestWithParam<Service> {
 protected:
  [[nodiscard]] static CommandQueue::Options options(std::uint64_t slots) {
    return {.rings = teams_per_launch,
            .slots = slots,
            .service_threads = GetParam().threads,
            .slots_on_device = GetParam().slots_on_device};
  }
  [[nodiscard]] Talk talk(const CommandQueue& queue, const Context& context, const Window& window, int round,
                          int words) const {
    const int rank = context.rank();
    const int size = context.size();
    return {queue.device(),
            reinterpret_cast<std::uint64_t*>(window.data()),
            rank,
            (rank + 1) % size,
            (rank + size - 1) % size,
            round,
            words};
  }
  template <class Kernel>
  [[nodiscard]] int run(const Kernel& kernel) const {
    int wrong = 0;
    Kokkos::parallel_reduce("talk", Kokkos::TeamPolicy<Space>(space_, teams_per_launch, 1), kernel, wrong);
    return wrong;
  }
  /// Thirty rounds of all ways to put and get, of sizes below and above what travels inline.
  void expect_rounds_arrive(CommandQueue& queue, const Context& context, const Window& window) const {
    for (int round = 1; round <= 30; ++round) {
      const int words = 1 + round * 97 % longest;
      const Talk what = talk(queue, context, window, round, words);
      ASSERT_EQ(on_all_ranks(run(Put{what})), 0) << round;
      ASSERT_EQ(on_all_ranks(run(WaitAndGet{what})), 0) << round;
    }
    EXPECT_NO_THROW(queue.check());
  }

  const Space space_;
};

TEST_P(CommandQueueTest, CarriesPutsGetsValuesAndSignals) {
  const Context context(MPI_COMM_WORLD);
  const Window window(space_, context, teams_per_launch * words_per_team * word);
  CommandQueue queue(space_, context, window, options(4));
  EXPECT_EQ(queue.device().is_fetched, !on_host && GetParam().slots_on_device);
  expect_rounds_arrive(queue, context, window);
}

/// As windows in GPU memory are between hosts, unless MPI takes such memory; ranks of one host copy.
TEST_P(CommandQueueTest, CarriesThemThroughHostMemoryWhereMpiTakesNoOther) {
  const Context context(MPI_COMM_WORLD);
  const Window window(space_, context, teams_per_launch * words_per_team * word);
  const_cast<detail::WindowState&>(window.state())
      .staged.assign(static_cast<std::size_t>(context.size()), true);
  MPI_Barrier(MPI_COMM_WORLD);
  CommandQueue queue(space_, context, window, options(4));
  expect_rounds_arrive(queue, context, window);
}

/// More queues than there are tags for, one after the other. What the last one has put may still be underway.
TEST_P(CommandQueueTest, GivesItsMessageTagsBack) {
  const Context context(MPI_COMM_WORLD);
  const Window window(space_, context, teams_per_launch * words_per_team * word);
  take_all_tags_but(context, 12);
  for (int round = 1; round <= 12; ++round) {
    CommandQueue queue(space_, context, window, options(4));
    ASSERT_EQ(on_all_ranks(run(Put{talk(queue, context, window, round, longest)})), 0) << round;
  }
}

/// Many more commands than slots.
struct PutMany : Talk {
  KOKKOS_FUNCTION void operator()(const Team& team, int& failed) const {
    const CommandPort::Ring context = port.ring(team.league_rank());
    const TeamMemory memory = memory_of(window, team.league_rank());
    bool done = true;
    for (int i = 0; i < words; ++i) {
      done = done &&
             context.put_value(team, memory.landed + i, value(rank, team.league_rank(), round, i), right);
    }
    done = done && context.quiet(team);
    if (!done) Kokkos::single(Kokkos::PerTeam(team), [&] { failed += 1; });
  }
};

TEST_P(CommandQueueTest, LosesNothingWhenRingsAreFull) {
  const Context context(MPI_COMM_WORLD);
  const Window window(space_, context, teams_per_launch * words_per_team * word);
  CommandQueue queue(space_, context, window, options(2));
  const Talk what = talk(queue, context, window, 7, 1000);
  ASSERT_EQ(on_all_ranks(run(PutMany{what})), 0);
  const auto found = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(),
      Words(reinterpret_cast<std::uint64_t*>(window.data()), teams_per_launch * words_per_team));
  for (int team = 0; team < teams_per_launch; ++team) {
    for (int i = 0; i < what.words; ++i) {
      // Between hosts a thread of this process has written it: quiet() on another rank, and its sum above, order that.
      const std::uint64_t came = detail::acquire_word(memory_of(found.data(), team).landed[i]);
      ASSERT_EQ(came, value(what.left, team, 7, i)) << team << " " << i;
    }
  }
}

TEST_P(CommandQueueTest, GoesOnWithAnotherKernelsCommands) {
  const Context context(MPI_COMM_WORLD);
  const Window window(space_, context, teams_per_launch * words_per_team * word);
  CommandQueue queue(space_, context, window, options(8));
  for (int round = 1; round <= 20; ++round) {
    // Some rounds end within a ring, some at its end, some go round it.
    ASSERT_EQ(on_all_ranks(run(PutMany{talk(queue, context, window, round, round)})), 0) << round;
  }
  EXPECT_NO_THROW(queue.check());
}

std::string name_of_service(const testing::TestParamInfo<Service>& tested) {
  return std::to_string(tested.param.threads) + "_" + (tested.param.slots_on_device ? "device" : "host");
}

std::vector<Service> services() {
  std::vector<Service> all;
  for (const int threads : {1, 2, 4}) {
    all.push_back({threads, false});
    if (!on_host) all.push_back({threads, true});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(ServiceThreads, CommandQueueTest, testing::ValuesIn(services()), name_of_service);

/// SELVAGE_QUEUE_PLACEMENT decides where the options leave it open.
TEST(QueuePlacements, FollowTheEnvironmentUnlessForced) {
  const Space space;
  const Context context(MPI_COMM_WORLD);
  const Window window(space, context, 64);
  const auto is_fetched = [&](const CommandQueue::Options& options) {
    return CommandQueue(space, context, window, options).device().is_fetched;
  };
  EXPECT_FALSE(is_fetched({}));
  const ScopedVariable placement("SELVAGE_QUEUE_PLACEMENT", "device");
  EXPECT_EQ(is_fetched({}), !on_host);
  EXPECT_FALSE(is_fetched({.slots_on_device = false}));
  const ScopedVariable mistyped("SELVAGE_QUEUE_PLACEMENT", "gpu");
  EXPECT_EQ(message_on_all_ranks(ErrorKind::input, [&] { static_cast<void>(is_fetched({})); }),
            "SELVAGE_QUEUE_PLACEMENT=gpu: \"gpu\" is no queue placement: there are host, device");
}

/// Ring 0 puts to this rank, ring 1 to one that doesn't answer yet.
struct PutToBoth : Talk {
  std::atomic<int>* step;
  void operator()(const Kokkos::TeamPolicy<HostSpace>::member_type& team, int& failed) const {
    const TeamMemory memory = memory_of(window, 0);
    const CommandPort::Ring near = port.ring(0);
    const CommandPort::Ring far = port.ring(1);
    memory.source[0] = 42;
    failed += far.put_nbi(team, memory.landed, memory.source, word, right) ? 0 : 1;
    failed += near.put_nbi(team, memory.fetched, memory.source, word, rank) ? 0 : 1;
    failed += near.quiet(team) ? 0 : 1;
    *step = 1;
    failed += far.quiet(team) ? 0 : 1;
    *step = 2;
  }
};

void progress_until(CommandQueue& queue, const std::atomic<int>& step, int wanted) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (step < wanted && std::chrono::steady_clock::now() < end) queue.progress();
}

TEST_F(CommandQueueTest, QuietWaitsForItsOwnContextAlone) {
  const ScopedVariable proxy("SELVAGE_PROXY", "caller");
  const ScopedVariable hosts("SELVAGE_LOGICAL_HOSTS", "2x1");
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) GTEST_SKIP() << "needs two ranks";
  const Context context(MPI_COMM_WORLD);
  const Window window(HostSpace(), context, words_per_team * word);
  CommandQueue queue(HostSpace(), context, window, {.rings = 2, .slots = 4, .service_threads = 1});
  ASSERT_FALSE(window.maps(1 - context.rank()));
  std::atomic<int> step = 0;
  int failed = 0;
  if (context.rank() == 0) {
    std::thread kernel([&] {
      const PutToBoth put{talk(queue, context, window, 1, 1), &step};
      Kokkos::parallel_reduce("both", Kokkos::TeamPolicy<HostSpace>(HostSpace(), 1, 1), put, failed);
    });
    // Rank 1 sleeps: what was put to it can't be complete, what was put here can.
    progress_until(queue, step, 1);
    for (int i = 0; i < 1000; ++i) queue.progress();
    EXPECT_EQ(step, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    progress_until(queue, step, 2);
    kernel.join();
    EXPECT_EQ(step, 2);
    EXPECT_EQ(failed, 0);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto* landed = memory_of(reinterpret_cast<std::uint64_t*>(window.data()), 0).landed;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (*landed != 42 && std::chrono::steady_clock::now() < end) queue.progress();
    EXPECT_EQ(*landed, 42U);
  }
  MPI_Request all_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
  for (int here = 0; here == 0; MPI_Test(&all_here, &here, MPI_STATUS_IGNORE)) queue.progress();
}

/// A word for the neighbour, and nobody waits for it.
struct PutValue : Talk {
  template <class HostTeam>
  void operator()(const HostTeam& team, int& failed) const {
    const CommandPort::Ring context = port.ring(0);
    if (!context.put_value(team, memory_of(window, 0).flag, round, right))
      Kokkos::single(Kokkos::PerTeam(team), [&] { failed += 1; });
  }
};

/// What the acknowledgement is written to stays, which the address sanitizer tells.
TEST_F(CommandQueueTest, MayGoBeforeWhatItPutIsAcknowledged) {
  const ScopedVariable proxy("SELVAGE_PROXY", "caller");
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const ScopedVariable hosts("SELVAGE_LOGICAL_HOSTS", (std::to_string(size) + "x1").c_str());
  const Context context(MPI_COMM_WORLD);
  const Window window(HostSpace(), context, words_per_team * word);
  int failed = 0;
  {
    CommandQueue queue(HostSpace(), context, window, {.rings = 1});
    const PutValue put{talk(queue, context, window, 5, 1)};
    Kokkos::parallel_reduce("put", Kokkos::TeamPolicy<HostSpace>(HostSpace(), 1, 1), put, failed);
    queue.progress();
  }
  EXPECT_EQ(failed, 0);
  // Nobody has answered so far.
  CommandQueue other(HostSpace(), context, window, {.rings = 1});
  const std::uint64_t* flag = memory_of(reinterpret_cast<std::uint64_t*>(window.data()), 0).flag;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (*flag != 5 && std::chrono::steady_clock::now() < end) other.progress();
  EXPECT_EQ(*flag, 5U);
  MPI_Request all_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
  for (int here = 0; here == 0; MPI_Test(&all_here, &here, MPI_STATUS_IGNORE)) other.progress();
  for (int i = 0; i < 1000; ++i) other.progress();
}

struct PutNowhere : Talk {
  KOKKOS_FUNCTION void operator()(const Team& team, int& failed) const {
    const CommandPort::Ring context = port.ring(0);
    const TeamMemory memory = memory_of(window, 0);
    const bool outside =
        context.put(team, window + teams_per_launch * words_per_team, memory.source, word, rank);
    const bool nobody = context.put(team, memory.landed, memory.source, word, 1000);
    Kokkos::single(Kokkos::PerTeam(team), [&] { failed += (outside ? 0 : 1) + (nobody ? 0 : 1); });
  }
};

TEST_F(CommandQueueTest, ReportsWhatCannotBeDoneAndGoesOn) {
  const Context context(MPI_COMM_WORLD);
  const Window window(space_, context, teams_per_launch * words_per_team * word);
  CommandQueue queue(space_, context, window, {.rings = teams_per_launch});
  const Talk what = talk(queue, context, window, 1, 10);
  int failed = 0;
  Kokkos::parallel_reduce("nowhere", Kokkos::TeamPolicy<Space>(space_, 1, 1), PutNowhere{what}, failed);
  const auto met = thrown_by([&] { queue.check(); });
  ASSERT_TRUE(met);
  EXPECT_NE(met->message().find("8 bytes at offset"), std::string::npos) << met->message();
  EXPECT_EQ(on_all_ranks(run(PutMany{what})), 0);
  EXPECT_EQ(thrown_by([&] { CommandQueue(space_, context, window, {.rings = 0}); })->kind(),
            ErrorKind::usage);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(CommandQueueTest, NeedsAWindowOfOneSize) {
  const Context context(MPI_COMM_WORLD);
  const auto error = thrown_by([&] { Window(space_, context, context.rank() == 0 ? 64 : 128); });
  EXPECT_EQ(error.has_value(), context.size() > 1);
  EXPECT_EQ(thrown_by([&] { Window(space_, context, 0); })->kind(), ErrorKind::usage);
}

}  // namespace
}  // namespace selvage::test
