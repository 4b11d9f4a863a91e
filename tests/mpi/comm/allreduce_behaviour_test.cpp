#include "allreduce_elements.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>

namespace selvage::test {
namespace {

using Algorithm = AllreduceAlgorithm;

TEST(Allreduce, FollowsTheEnvironment) {
  const Context context(MPI_COMM_WORLD);
  const ScopedVariable variable("SELVAGE_ALLREDUCE", "mpi");
  const Kokkos::View<double*, Space> view("gradients", 10);
  const Allreduce allreduce(Space(), context, {}, view);
  EXPECT_EQ(allreduce.algorithm(), Algorithm::mpi);
  EXPECT_NE(allreduce.explain().find("forced by SELVAGE_ALLREDUCE"), std::string::npos)
      << allreduce.explain();
}

TEST(Allreduce, TakesItsLevelsFromTheEnvironment) {
  if (!on_host) GTEST_SKIP() << "for hosts";
  const Context context(MPI_COMM_WORLD);
  const ScopedVariable allowing("SELVAGE_ALLREDUCE_FAST", "yes");
  const Kokkos::View<double*, Space> view("gradients", 10);
  for (const char* form : {"hierarchical:gsb,gsb", "hierarchical:gsb,btb", "hierarchical:btb,gsb",
                           "hierarchical:btb,btb", "pipelined:2"}) {
    const ScopedVariable variable("SELVAGE_ALLREDUCE", form);
    Allreduce allreduce(Space(), context, {}, view);
    EXPECT_NE(allreduce.explain().find(std::string(form) + " (forced by SELVAGE_ALLREDUCE)"),
              std::string::npos)
        << allreduce.explain();
    Kokkos::deep_copy(view, 1.0);
    allreduce.run(Space());
    EXPECT_EQ(view(9), context.size());
  }
}

TEST(Allreduce, IsAllowedAnotherOrderByTheEnvironment) {
  const Context context(MPI_COMM_WORLD);
  const Kokkos::View<double*, Space> view("gradients", 10);
  const ScopedVariable variable("SELVAGE_ALLREDUCE_FAST", "yes");
  const Allreduce allreduce(Space(), context, {.algorithm = Algorithm::ring}, view);
  EXPECT_EQ(allreduce.algorithm(), Algorithm::ring);
  const ScopedVariable forbidding("SELVAGE_ALLREDUCE_FAST", "no");
  const auto error = thrown_by(
      [&] { const Allreduce refused(Space(), context, {.algorithm = Algorithm::ring, .fast = true}, view); });
  EXPECT_EQ(error ? to_string(error->kind()) : "", to_string(ErrorKind::unsupported));
}

/// By default the order stays that of ranks: who allows another one gets the same bits wherever none is better.
TEST(Allreduce, StaysInRankOrderUnlessForced) {
  const Context context(MPI_COMM_WORLD);
  for (const std::int64_t count : {10, 10'000, 1'000'000}) {
    const Kokkos::View<double*, Space> view("gradients", static_cast<std::size_t>(count));
    const Allreduce ordered(Space(), context, {}, view);
    const Allreduce fast(Space(), context, {.fast = true}, view);
    EXPECT_EQ(ordered.algorithm(), fast.algorithm()) << fast.explain();
  }
}

/// Each host's elements leave it once, and the result comes back once: no allreduce of two hosts sends less.
TEST(Allreduce, SendsTheLeastBetweenTwoHosts) {
  const Context context(MPI_COMM_WORLD);
  if (context.machine().host_count() != 2) GTEST_SKIP() << "for two hosts";
  const auto& hosts = context.machine().hosts();
  if (!on_host && hosts[0].ranks.size() != hosts[1].ranks.size())
    GTEST_SKIP() << "hosts with equally many GPUs";
  constexpr std::int64_t count = 300'007;
  const Kokkos::View<float*, Space> view("gradients", count);
  Allreduce allreduce(Space(), context, {.algorithm = Algorithm::hierarchical}, view);
  for (int round = 0; round < 3; ++round) allreduce.run(Space());
  std::int64_t sent = allreduce.bytes_between_hosts();
  MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sent, 3 * 2 * count * static_cast<std::int64_t>(sizeof(float)));
}

/// One rank of each host speaks to the other's, whatever they combine by: all elements there, and all back.
TEST(Allreduce, SendsBetweenTheFirstRanksOfTwoHosts) {
  const Context context(MPI_COMM_WORLD);
  if (context.machine().host_count() != 2) GTEST_SKIP() << "for two hosts";
  constexpr std::int64_t count = 300'007;
  const Kokkos::View<float*, Space> view("gradients", count);
  for (const auto outer :
       {Algorithm::gsb, Algorithm::btb, Algorithm::recursive_doubling, Algorithm::ring, Algorithm::mpi}) {
    const AllreduceOptions options{.algorithm = Algorithm::hierarchical, .fast = true, .outer = outer};
    if (!on_host) GTEST_SKIP() << "for hosts";
    Allreduce allreduce(Space(), context, options, view);
    allreduce.run(Space());
    std::int64_t sent = allreduce.bytes_between_hosts();
    MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(sent, 2 * count * static_cast<std::int64_t>(sizeof(float))) << to_string(outer);
  }
}

/// While another host is late, the leader's chunks reach it one after the other: the first is not waited for.
TEST(Allreduce, PipelinesChunksOnDifferentStages) {
  const ShortTimeout variable;
  const Context context(MPI_COMM_WORLD);
  if (context.machine().host_count() != 2) GTEST_SKIP() << "for two hosts";
  if (!on_host) GTEST_SKIP() << "for hosts";
  const Kokkos::View<float*, Space> view("gradients", 1 << 20);
  Allreduce allreduce(Space(), context, {.algorithm = Algorithm::pipelined, .fast = true}, view);
  if (context.machine().host_of(context.rank()) == 0) {
    EXPECT_TRUE(thrown_by([&] { allreduce.run(Space()); }));
  }
  constexpr std::int64_t chunk_bytes = 128 * 1024;
  EXPECT_EQ(allreduce.bytes_between_hosts(), context.rank() == 0 ? 4 * chunk_bytes : 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

class AllreduceTimeout : public testing::TestWithParam<AllreduceOptions> {};

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, AllreduceTimeout,
                         testing::Values(AllreduceOptions{}, AllreduceOptions{.algorithm = Algorithm::gsb},
                                         AllreduceOptions{.algorithm = Algorithm::mpi},
                                         AllreduceOptions{.algorithm = Algorithm::btb, .fast = true},
                                         AllreduceOptions{.algorithm = Algorithm::recursive_doubling,
                                                          .fast = true},
                                         AllreduceOptions{.algorithm = Algorithm::ring, .fast = true},
                                         AllreduceOptions{.algorithm = Algorithm::pipelined, .fast = true}),
                         [](const auto& tested) {
                           return tested.param.algorithm ? std::string(to_string(*tested.param.algorithm))
                                                         : "chosen";
                         });

TEST_P(AllreduceTimeout, NamesTheRankThatNeverCalls) {
  const ShortTimeout variable;
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "nobody to wait for";
  // Long enough that a message's sender waits for its receiver.
  const Kokkos::View<double*, Space> view("gradients", 100'000);
  std::optional<Allreduce> planned;
  const auto refusal = thrown_by([&] { planned.emplace(Space(), context, GetParam(), view); });
  if (refusal && refusal->kind() == ErrorKind::unsupported) GTEST_SKIP() << refusal->message();
  Allreduce& allreduce = planned.value();
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
  }
  MPI_Allreduce(MPI_IN_PLACE, &names_it, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(names_it, 1);
}

}  // namespace
}  // namespace selvage::test
