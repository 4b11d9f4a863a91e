// Sums that a rank never comes to.
#include "allreduce_cases.hpp"
#include "allreduce_elements.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

using Algorithm = AllreduceAlgorithm;

/// While another host is late, the leader's chunks reach it one after the other: the first is not waited for.
TEST(AllreduceChunks, ArePipelinedOnDifferentStages) {
  // All that can be sent must have been by then.
  const ScopedVariable limit("SELVAGE_TIMEOUT_MS", std::to_string(limit_ms(1000)).c_str());
  const Context context(MPI_COMM_WORLD);
  if (this_job().hosts() != 2) GTEST_SKIP() << "for two hosts";
  if (!on_host) GTEST_SKIP() << "for hosts";
  const Kokkos::View<float*, Space> view("gradients", 1 << 20);
  Allreduce allreduce(Space(), context, view, {.algorithm = Algorithm::pipelined, .allow_reordering = true});
  if (context.machine().host_of(context.rank()) == 0) {
    EXPECT_TRUE(thrown_by([&] { allreduce.run(Space()); }));
  }
  constexpr std::int64_t chunk_bytes = 128 * 1024;
  EXPECT_EQ(allreduce.bytes_between_hosts(), context.rank() == 0 ? 4 * chunk_bytes : 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

class AllreduceTimeout : public testing::TestWithParam<AllreduceCase> {};

std::vector<AllreduceCase> cases() {
  std::vector<AllreduceCase> all{{"chosen", {}}};
  for (const auto algorithm : {Algorithm::shared_buffer_tree, Algorithm::mpi, Algorithm::binomial_tree,
                               Algorithm::recursive_doubling, Algorithm::ring, Algorithm::pipelined})
    all.push_back({std::string(to_string(algorithm)), {.algorithm = algorithm, .allow_reordering = true}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, AllreduceTimeout, testing::ValuesIn(running(cases())),
                         [](const auto& tested) { return tested.param.name; });

TEST(AllreduceTimeoutCases, AreRefusedWhereTheyDontRun) {
  expect_others_refused(
      cases(),
      {.on_one_host = 7, .on_several_hosts = 6, .on_gpus_of_one_host = 4, .on_gpus_of_several_hosts = 4});
}

TEST_P(AllreduceTimeout, NamesTheRankThatNeverCalls) {
  const ShortTimeout variable;
  const Context context(MPI_COMM_WORLD);
  // Long enough that a message's sender waits for its receiver.
  const Kokkos::View<double*, Space> view("gradients", 100'000);
  Allreduce allreduce(Space(), context, view, GetParam().options);
  const int last = context.size() - 1;
  int names_it = 0;
  if (context.rank() != last) {
    const auto error = thrown_by([&] {
      allreduce.run(Space());
      Space().fence();
      allreduce.check();
    });
    EXPECT_TRUE(error.has_value());
    const std::string message = error ? error->message() : "nothing was thrown";
    EXPECT_EQ(error ? to_string(error->kind()) : "", to_string(ErrorKind::timeout)) << message;
    const std::string name = "rank " + std::to_string(last);
    names_it = message.find(name) != std::string::npos ? 1 : 0;
    EXPECT_EQ(message.find(name), message.rfind(name)) << "once: " << message;
    // Where not all wait for all, some wait for those that wait for it.
    const bool waits_for_all = allreduce.algorithm() == Algorithm::one_shot ||
                               allreduce.algorithm() == Algorithm::two_shot ||
                               allreduce.algorithm() == Algorithm::mpi;
    EXPECT_TRUE(names_it == 1 || !waits_for_all) << message;
    const auto again = thrown_by([&] { allreduce.run(Space()); });
    EXPECT_EQ(again ? again->message() : "none", "an Allreduce can't go on after an error: " + message);
  }
  MPI_Allreduce(MPI_IN_PLACE, &names_it, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(names_it, 1);
}

}  // namespace
}  // namespace selvage::test
