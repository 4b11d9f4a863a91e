#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/remote_tasks.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace selvage::test {
namespace {

using HostSpace = Kokkos::DefaultHostExecutionSpace;
using Sums = Kokkos::View<double*, Space>;
using HostSums = Kokkos::View<double*, HostSpace>;

constexpr int most = 500;  // elements of a payload: more than what travels inline
/// Long enough for all ranks to make a Context on a busy machine, once they have come together.
constexpr RemoteTasks::Options options{.payload_bytes = most * sizeof(double), .slots = 3};

/// Element i of what a rank sends in a round; sums of these are exact.
KOKKOS_FUNCTION double element(int source, int round, int i) {
  return source * 100 + round * 7 + i;
}
int length_in(int round) {
  return round * 131 % (most + 1);
}

/// What target-side tasks add up, on hosts: received elements from the offset in the first argument on.
void accumulate(const HostSums& sums, const TaskPort::Message& message) {
  const auto* values = reinterpret_cast<const double*>(message.payload);
  for (std::uint64_t i = 0; i < message.bytes / sizeof(double); ++i)
    sums(message.call.arguments[0] + i) += values[i];
}

/// The same as a kernel, with what the target has registered.
struct Accumulate {
  Sums sums;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const TaskPort::Message& message) const {
    const auto* values = reinterpret_cast<const double*>(message.payload);
    const int count = static_cast<int>(message.bytes / sizeof(double));
    const int share = (count + team.league_size() - 1) / team.league_size();
    const int begin = team.league_rank() * share;
    const int end = begin + share < count ? begin + share : count;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, begin, end),
                         [&](int i) { sums(message.call.arguments[0] + i) += values[i]; });
  }
};
struct Negate {
  Sums sums;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const TaskPort::Message&) const {
    const int size = static_cast<int>(sums.extent(0));
    for (int i = team.league_rank(); i < size; i += team.league_size()) {
      Kokkos::single(Kokkos::PerTeam(team), [&] { sums(i) = -sums(i); });
    }
  }
};

struct Fill {
  Sums values;
  int rank;
  int round;
  KOKKOS_FUNCTION void operator()(int i) const { values(i) = element(rank, round, i); }
};

/// A payload that a kernel of the instance has written; calls may be enqueued behind.
Sums payload_of(const Space& space, const Sums& values, int rank, int round, int length) {
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Space>(space, 0, length), Fill{values, rank, round});
  return Kokkos::subview(values, Kokkos::pair(0, length));
}

double expected(int ranks, int rounds, int at) {
  double sum = 0;
  for (int source = 0; source < ranks; ++source) {
    for (int round = 0; round < rounds; ++round) {
      const int i = at - round % 5;
      if (i >= 0 && i < length_in(round)) sum += element(source, round, i);
    }
  }
  return sum;
}
template <class View>
void expect_sums(const View& sums, int ranks, int rounds, double factor) {
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  for (int i = 0; i < most + 5; ++i) ASSERT_EQ(found(i), factor * expected(ranks, rounds, i)) << i;
}

constexpr int rounds = 23;

/// Functions that a thread of the library's runs as messages come.
class TasksByFunction : public testing::Test {
 protected:
  void call_all(const Space& space) {
    const Sums values("values", most);
    for (int round = 0; round < rounds; ++round) {
      const Sums payload = payload_of(space, values, context_.rank(), round, length_in(round));
      for (int target = 0; target < context_.size(); ++target)
        tasks_->call(space, target, {.index = 63, .arguments = {static_cast<std::uint64_t>(round % 5)}},
                     payload);
    }
    for (int target = 0; target < context_.size(); ++target) tasks_->wait(space, target);
    space.fence();
  }
  const Context context_{MPI_COMM_WORLD};
  /// What tasks have stored is this thread's once those who called them say so: by way of other processes, which the
  /// thread sanitizer can't follow.
  std::mutex mutex_;
  std::unique_ptr<RemoteTasks> tasks_;
};

TEST_F(TasksByFunction, AddUpWhatAllRanksSend) {
  if (!on_host) GTEST_SKIP() << "payloads lie in GPU memory";
  const Space space;
  tasks_ = std::make_unique<RemoteTasks>(space, context_, options);
  const HostSums sums("sums", most + 5);
  tasks_->add(63, [&](const TaskPort::Message& message) {
    const std::lock_guard lock(mutex_);
    accumulate(sums, message);
  });
  tasks_->open();
  call_all(space);
  EXPECT_NO_THROW(tasks_->check());
  MPI_Barrier(MPI_COMM_WORLD);
  const std::lock_guard lock(mutex_);
  expect_sums(sums, context_.size(), rounds, 1);
}

TEST_F(TasksByFunction, RunInTheOrderOfTheirSource) {
  if (!on_host) GTEST_SKIP() << "payloads lie in GPU memory";
  const Space space;
  tasks_ = std::make_unique<RemoteTasks>(space, context_, options);
  std::vector<std::vector<std::uint64_t>> came(context_.size());
  tasks_->add(0, [&](const TaskPort::Message& message) {
    EXPECT_EQ(message.call.arguments[7], 99U);
    EXPECT_EQ(message.bytes, 0U);
    const std::lock_guard lock(mutex_);
    came[message.source].push_back(message.call.arguments[1]);
  });
  tasks_->open();
  for (std::uint64_t i = 0; i < 200; ++i) {
    for (int target = 0; target < context_.size(); ++target)
      tasks_->call(space, target, {.arguments = {0, i, 0, 0, 0, 0, 0, 99}});
  }
  for (int target = 0; target < context_.size(); ++target) tasks_->wait(space, target);
  space.fence();
  tasks_->check();
  MPI_Barrier(MPI_COMM_WORLD);
  const std::lock_guard lock(mutex_);
  for (const auto& numbers : came) {
    ASSERT_EQ(numbers.size(), 200U);
    for (std::uint64_t i = 0; i < 200; ++i) ASSERT_EQ(numbers[i], i);
  }
}

TEST_F(TasksByFunction, ThatFailAreTheTargetsErrorsAndHoldNobodyUp) {
  if (!on_host) GTEST_SKIP() << "payloads lie in GPU memory";
  const Space space;
  tasks_ = std::make_unique<RemoteTasks>(space, context_, options);
  std::atomic<int> ran = 0;
  tasks_->add(1, [](const TaskPort::Message&) { throw std::runtime_error("no good"); });
  tasks_->add(2, [&](const TaskPort::Message&) { ++ran; });
  tasks_->open();
  const int right = (context_.rank() + 1) % context_.size();
  const int left = (context_.rank() + context_.size() - 1) % context_.size();
  tasks_->call(space, right, {.index = 1});
  tasks_->wait(space, right);
  space.fence();
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_THROW(tasks_->check(), std::runtime_error);
  MPI_Barrier(MPI_COMM_WORLD);  // the first error is kept until it is asked for
  tasks_->call(space, right, {.index = 7});
  tasks_->call(space, right, {.index = 2});
  tasks_->wait(space, right);
  space.fence();
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(ran, 1);
  const auto error = thrown_by([&] { tasks_->check(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_NE(error->message().find("rank " + std::to_string(left) + " called task 7, which rank " +
                                  std::to_string(context_.rank()) + " has not registered"),
            std::string::npos)
      << error->message();
  EXPECT_NO_THROW(tasks_->check());
}

TEST_F(TasksByFunction, RunWithoutAThreadWhenTheCallerProgresses) {
  const ScopedVariable proxy("SELVAGE_PROXY", "caller");
  const HostSpace space;
  const Context context(MPI_COMM_WORLD);
  RemoteTasks tasks(space, context, options);
  EXPECT_FALSE(tasks.has_threads());
  int ran = 0;
  tasks.add(0, [&](const TaskPort::Message&) { ++ran; });
  tasks.open();
  tasks.call(space, (context.rank() + 1) % context.size(), {});
  space.fence();
  EXPECT_EQ(ran, 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (ran == 0 && std::chrono::steady_clock::now() < end) tasks.progress();
  EXPECT_EQ(ran, 1);
  MPI_Request all_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
  for (int here = 0; here == 0; MPI_Test(&all_here, &here, MPI_STATUS_IGNORE)) tasks.progress();
}

/// What is replaced ends as it would in its destructor: nothing polls a window that is gone.
TEST_F(TasksByFunction, GoOnWhereOthersWereMovedTo) {
  const HostSpace space;
  std::atomic<int> ran = 0;
  const auto make = [&] {
    RemoteTasks tasks(space, context_, options);
    tasks.add(0, [&](const TaskPort::Message&) { ++ran; });
    tasks.open();
    return tasks;
  };
  RemoteTasks tasks = make();
  for (int round = 1; round <= 10; ++round) {
    tasks = make();
    tasks.call(space, context_.rank(), {});
    tasks.wait(space, context_.rank());
    space.fence();
    tasks.check();
    EXPECT_EQ(ran, round);
  }
}

/// Kernels that an instance runs as messages come.
TEST(TasksByKernel, AddUpWhatAllRanksSend) {
  const Space space;
  const Context context(MPI_COMM_WORLD);
  RemoteTasks tasks(space, context, options);
  const Sums sums("sums", most + 5);
  const Sums values("values", most);
  const int ranks = context.size();
  for (int round = 0; round < rounds; ++round) {
    const Sums payload = payload_of(space, values, context.rank(), round, length_in(round));
    for (int target = 0; target < ranks; ++target)
      tasks.call(space, target, {.index = 1, .arguments = {static_cast<std::uint64_t>(round % 5)}}, payload);
    for (int source = 0; source < ranks; ++source)
      tasks.serve(space, source, 4, Negate{sums}, Accumulate{sums});
  }
  // The other task of the list.
  for (int target = 0; target < ranks; ++target) tasks.call(space, target, {.index = 0});
  for (int source = 0; source < ranks; ++source)
    tasks.serve(space, source, 4, Negate{sums}, Accumulate{sums});
  for (int target = 0; target < ranks; ++target) tasks.wait(space, target);
  space.fence();
  EXPECT_NO_THROW(tasks.check());
  expect_sums(sums, ranks, rounds, ranks % 2 == 1 ? -1 : 1);
}

TEST(TasksByKernel, ReportAnIndexThatIsNotServed) {
  const Space space;
  const Context context(MPI_COMM_WORLD);
  RemoteTasks tasks(space, context, options);
  const Sums sums("sums", most + 5);
  const int right = (context.rank() + 1) % context.size();
  const int left = (context.rank() + context.size() - 1) % context.size();
  tasks.call(space, right, {.index = 2});
  tasks.serve(space, left, 2, Negate{sums}, Accumulate{sums});
  tasks.wait(space, right);
  space.fence();
  const auto error = thrown_by([&] { tasks.check(); });
  ASSERT_TRUE(error);
  EXPECT_NE(error->message().find("rank " + std::to_string(left) + " called task 2, which rank"),
            std::string::npos)
      << error->message();
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(TasksByKernel, NameTheRankThatDoesNotCall) {
  const ShortTimeout timeout;
  MPI_Barrier(MPI_COMM_WORLD);
  const Space space;
  const Context context(MPI_COMM_WORLD);
  RemoteTasks tasks(space, context, options);
  const Sums sums("sums", most + 5);
  const int left = (context.rank() + context.size() - 1) % context.size();
  tasks.serve(space, left, 2, Negate{sums});
  space.fence();
  const auto error = thrown_by([&] { tasks.check(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::timeout);
  EXPECT_EQ(error->message().find("remote tasks waited " + short_timeout_ms + " ms for rank " +
                                  std::to_string(left) + " (the arrival of call 1)"),
            0U)
      << error->message();
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(TasksByKernel, NameTheRankThatDoesNotServe) {
  const ShortTimeout timeout;
  MPI_Barrier(MPI_COMM_WORLD);
  const Space space;
  const Context context(MPI_COMM_WORLD);
  RemoteTasks tasks(space, context, options);
  const int right = (context.rank() + 1) % context.size();
  for (int i = 0; i < options.slots + 1; ++i) tasks.call(space, right, {});
  space.fence();
  const auto error = thrown_by([&] { tasks.check(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message().find("remote tasks waited " + short_timeout_ms + " ms for rank " +
                                  std::to_string(right) + " (the end of call 1)"),
            0U)
      << error->message();
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(RemoteTasksErrors, AreUsage) {
  const HostSpace space;
  const Context context(MPI_COMM_WORLD);
  RemoteTasks tasks(space, context, options);
  const auto is_usage = [](const auto& function) {
    const auto error = thrown_by(function);
    return error && error->kind() == ErrorKind::usage;
  };
  tasks.add(5, [](const TaskPort::Message&) {});
  EXPECT_TRUE(is_usage([&] { tasks.add(5, [](const TaskPort::Message&) {}); }));
  EXPECT_TRUE(is_usage([&] { tasks.add(64, [](const TaskPort::Message&) {}); }));
  EXPECT_TRUE(is_usage([&] { tasks.add(6, nullptr); }));
  EXPECT_TRUE(is_usage([&] { tasks.call(space, context.size(), {}); }));
  EXPECT_TRUE(is_usage([&] { tasks.call(space, -1, {}); }));
  EXPECT_TRUE(is_usage([&] { tasks.call(space, 0, {.index = 64}); }));
  const HostSums long_one("long", most + 1);
  EXPECT_TRUE(is_usage([&] { tasks.call(space, 0, {}, long_one); }));
  const Kokkos::View<double**, Kokkos::LayoutLeft, HostSpace> table("table", 4, 4);
  const auto row = Kokkos::subview(table, 1, Kokkos::ALL);
  EXPECT_TRUE(is_usage([&] { tasks.call(space, 0, {}, row); }));
  tasks.open();
  EXPECT_TRUE(is_usage([&] { tasks.add(6, [](const TaskPort::Message&) {}); }));
  EXPECT_TRUE(is_usage([&] { tasks.serve(space, 0, 1); }));
  message_on_all_ranks(ErrorKind::usage, [&] { tasks.open(); });
  message_on_all_ranks(ErrorKind::usage, [&] { RemoteTasks(space, context, {.slots = 0}); });
  if (context.size() == 1) return;
  const int slots = context.rank() == 0 ? 2 : 3;
  EXPECT_EQ(message_on_all_ranks(ErrorKind::usage, [&] { RemoteTasks(space, context, {.slots = slots}); })
                .find("RemoteTasks need the same slots on all ranks: rank 0 has 2, rank "),
            0U);
}

}  // namespace
}  // namespace selvage::test
