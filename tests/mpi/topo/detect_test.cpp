#include <selvage/error.hpp>
#include <selvage/topo/machine.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

// Runs on one physical host, with tests/unit/topo/fake_nvml.cpp in place of NVML.
extern "C" int fakeNvmlStarts();

namespace selvage::topo {
namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::string text_of_rank_zero(std::string text, MPI_Comm comm) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  text.resize(length);
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm);
  return text;
}

void expect_equal_on_all_ranks(const Machine& machine, MPI_Comm comm) {
  EXPECT_EQ(to_json(machine), text_of_rank_zero(to_json(machine), comm));
  EXPECT_EQ(describe(machine), text_of_rank_zero(describe(machine), comm));
}

class Detect : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv(variable_);
    sched_getaffinity(0, sizeof own_cpus_, &own_cpus_);
  }
  void TearDown() override {
    unsetenv(variable_);
    sched_setaffinity(0, sizeof own_cpus_, &own_cpus_);
  }

  static void split_into(const std::string& value) { setenv(variable_, value.c_str(), 1); }

  /// Confines this rank to the n-th of the processors that it had, counted around.
  [[nodiscard]] int pin_to_nth(int n) const {
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &own_cpus_)) cpus.push_back(cpu);
    }
    const int chosen = cpus.at(n % cpus.size());
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(chosen, &one);
    sched_setaffinity(0, sizeof one, &one);
    return chosen;
  }

  /// \return the message of the Error{input} that detect() throws
  static std::string input_error(const DetectOptions& options = {}) {
    try {
      (void)detect(MPI_COMM_WORLD, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return error.message();
    }
    return "nothing was thrown";
  }

 private:
  static constexpr const char* variable_ = "SELVAGE_LOGICAL_HOSTS";
  cpu_set_t own_cpus_;
};

TEST_F(Detect, GivesEveryRankTheSameMachine) {
  const Machine machine = detect(MPI_COMM_WORLD);
  EXPECT_EQ(machine.rank_count(), world_size());
  expect_equal_on_all_ranks(machine, MPI_COMM_WORLD);
}

TEST_F(Detect, FindsOnePhysicalHostAndItsGpus) {
  const Machine machine = detect(MPI_COMM_WORLD);
  ASSERT_EQ(machine.physical_hosts().size(), 1u);
  EXPECT_EQ(machine.host_count(), 1);
  EXPECT_EQ(machine.physical_hosts()[0].gpus.value_or({}).size(), 2u)
      << machine.physical_hosts()[0].gpus.reason();
  EXPECT_EQ(static_cast<int>(machine.ranks_of_host(0).size()), world_size());
  EXPECT_EQ(machine.place(world_rank()).rank_in_host, world_rank());
}

TEST_F(Detect, AsksForGpusOnce) {
  const auto gpus = detect(MPI_COMM_WORLD).physical_hosts().at(0).gpus;
  EXPECT_EQ(detect(MPI_COMM_WORLD).physical_hosts().at(0).gpus, gpus);
  EXPECT_EQ(fakeNvmlStarts(), world_rank() == 0 ? 1 : 0);
}

TEST_F(Detect, NumbersRanksAsTheCommunicatorDoes) {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &reversed);
  const int cpu = pin_to_nth(world_rank());
  const Machine machine = detect(reversed);
  expect_equal_on_all_ranks(machine, reversed);
  EXPECT_EQ(machine.place(world_size() - 1 - world_rank()).cpus.value_or({}), std::vector{cpu});
  MPI_Comm_free(&reversed);
}

TEST_F(Detect, SplitsThePhysicalHostIntoLogicalOnes) {
  const int size = world_size();
  const int per_host = size == 4 ? 2 : 1;
  split_into(fmt::format("{}x{}", size / per_host, per_host));
  const Machine machine = detect(MPI_COMM_WORLD);
  EXPECT_EQ(machine.host_count(), size / per_host);
  for (int rank = 0; rank < size; ++rank) {
    EXPECT_EQ(machine.host_of(rank), rank / per_host);
    EXPECT_EQ(machine.same_host(0, rank), rank < per_host);
    EXPECT_TRUE(machine.same_physical_host(0, rank));
  }
  expect_equal_on_all_ranks(machine, MPI_COMM_WORLD);
}

TEST_F(Detect, FollowsLogicalHostsThatOnlyTheLastRankHas) {
  if (world_rank() == world_size() - 1) split_into(fmt::format("{}x1", world_size()));
  EXPECT_EQ(detect(MPI_COMM_WORLD).host_count(), world_size());
}

TEST_F(Detect, RefusesBadLogicalHostsOnEveryRank) {
  split_into("two by two");
  EXPECT_NE(input_error().find("SELVAGE_LOGICAL_HOSTS=two by two"), std::string::npos);
  split_into("3x3");
  EXPECT_EQ(input_error(),
            fmt::format("SELVAGE_LOGICAL_HOSTS=3x3 makes 9 ranks, but the job has {}", world_size()));
}

TEST_F(Detect, RefusesLogicalHostsThatRanksDisagreeOn) {
  if (world_size() == 1) GTEST_SKIP() << "one rank can't disagree";
  split_into(world_rank() == 0 ? fmt::format("{}x1", world_size()) : fmt::format("1x{}", world_size()));
  EXPECT_NE(input_error().find("on rank 1"), std::string::npos);
}

TEST_F(Detect, SeesFourRanksOnTwoCoresAsTooMany) {
  (void)pin_to_nth(world_rank() % 2);
  const Machine machine = detect(MPI_COMM_WORLD);
  const auto usable = static_cast<int>(machine.physical_hosts().at(0).usable_cpus.value_or({}).size());
  EXPECT_LE(usable, 2);
  if (machine.place(0).cpu_quota.value_or(2.0) < 2.0) GTEST_SKIP() << "a quota of less than two processors";
  EXPECT_EQ(machine.ranks_exceed_cores(world_rank()), world_size() > usable);
}

TEST_F(Detect, SeesRanksOnOneCoreAsTooMany) {
  (void)pin_to_nth(0);
  const Machine machine = detect(MPI_COMM_WORLD);
  if (machine.place(0).cpu_quota.value_or(1.0) < 1.0) GTEST_SKIP() << "a quota of less than one processor";
  EXPECT_EQ(machine.ranks_exceed_cores(world_rank()), world_size() > 1);
}

TEST_F(Detect, KnowsWhichRanksShareAGpu) {
  const bool even = world_rank() % 2 == 0;
  const Machine machine =
      detect(MPI_COMM_WORLD, {.gpu_pci_bus_id = even ? "0000FEED:1B:00.0" : "0000feed:2b:00.0"});
  EXPECT_EQ(machine.place(world_rank()).gpu_uuid.value_or("?"), even ? "GPU-fake-0" : "GPU-fake-1");
  for (int rank = 0; rank < world_size(); ++rank) EXPECT_EQ(machine.same_gpu(0, rank), rank % 2 == 0);
}

TEST_F(Detect, RefusesABadGpuOfOneRankOnEveryRank) {
  const int last = world_size() - 1;
  const std::string message = input_error({.gpu_pci_bus_id = world_rank() == last ? "card 3" : ""});
  EXPECT_NE(message.find(fmt::format("rank {}: gpu_pci_bus_id 'card 3'", last)), std::string::npos)
      << message;
}

}  // namespace
}  // namespace selvage::topo
