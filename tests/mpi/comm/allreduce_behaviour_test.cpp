#include "allreduce_cases.hpp"
#include "allreduce_elements.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/grid.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_OffsetView.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

using Algorithm = AllreduceAlgorithm;

TEST(Allreduce, FollowsTheEnvironment) {
  const Context context(MPI_COMM_WORLD);
  const ScopedVariable variable("SELVAGE_ALLREDUCE", "mpi");
  const Kokkos::View<double*, Space> view("gradients", 10);
  const Allreduce allreduce(Space(), context, view);
  EXPECT_EQ(allreduce.algorithm(), Algorithm::mpi);
  EXPECT_NE(allreduce.explain().find("forced by SELVAGE_ALLREDUCE"), std::string::npos)
      << allreduce.explain();
}

TEST(Allreduce, TakesOffsetViews) {
  const Context context(MPI_COMM_WORLD);
  const Kokkos::Experimental::OffsetView<double*, Space> view("gradients", {-3, 4});
  Kokkos::deep_copy(view.view(), 1.0);
  Allreduce allreduce(Space(), context, view);
  allreduce.run(Space());
  Space().fence();
  const auto sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view.view());
  ASSERT_EQ(sums.size(), 8U);
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums(i), context.size()) << i;
}

TEST(Allreduce, TakesItsLevelsFromTheEnvironment) {
  if (!on_host) GTEST_SKIP() << "for hosts";
  const Context context(MPI_COMM_WORLD);
  const ScopedVariable allowing("SELVAGE_ALLREDUCE_REORDERING", "yes");
  const Kokkos::View<double*, Space> view("gradients", 10);
  for (const char* form :
       {"hierarchical:shared_buffer_tree,shared_buffer_tree", "hierarchical:shared_buffer_tree,binomial_tree",
        "hierarchical:binomial_tree,shared_buffer_tree", "hierarchical:binomial_tree,binomial_tree",
        "pipelined:2"}) {
    const ScopedVariable variable("SELVAGE_ALLREDUCE", form);
    Allreduce allreduce(Space(), context, view);
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
  const ScopedVariable variable("SELVAGE_ALLREDUCE_REORDERING", "yes");
  const Allreduce allreduce(Space(), context, view, {.algorithm = Algorithm::ring});
  EXPECT_EQ(allreduce.algorithm(), Algorithm::ring);
  const ScopedVariable forbidding("SELVAGE_ALLREDUCE_REORDERING", "no");
  const auto error = thrown_by([&] {
    const Allreduce refused(Space(), context, view, {.algorithm = Algorithm::ring, .allow_reordering = true});
  });
  EXPECT_EQ(error ? to_string(error->kind()) : "", to_string(ErrorKind::unsupported));
}

/// By default the order stays that of ranks: who allows another one gets the same bits wherever none is better.
TEST(Allreduce, StaysInRankOrderUnlessForced) {
  const Context context(MPI_COMM_WORLD);
  for (const std::int64_t count : {10, 10'000, 1'000'000}) {
    const Kokkos::View<double*, Space> view("gradients", static_cast<std::size_t>(count));
    const Allreduce ordered(Space(), context, view);
    const Allreduce fast(Space(), context, view, {.allow_reordering = true});
    EXPECT_EQ(ordered.algorithm(), fast.algorithm()) << fast.explain();
  }
}

/// Ranks of a host that map each other's Views copy nothing by two_shot; others would copy their elements first.
TEST(Allreduce, FindsThatRanksMapEachOthersViews) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {4 * context.size()}});
  const auto mapped = grid.allocate<double, Kokkos::LayoutRight>("mapped", 1);
  const Kokkos::View<double*, Space> plain("plain", mapped.extent(0));
  const Allreduce of_mapped(Space(), context, mapped);
  const Allreduce of_plain(Space(), context, plain);
  const bool waits_are_short = context.size() == 2 || !context.machine().ranks_exceed_cores(0);
  if (on_host && waits_are_short && this_job().is_on_one_host()) {
    EXPECT_EQ(of_mapped.algorithm(), Algorithm::two_shot) << of_mapped.explain();
    EXPECT_EQ(of_plain.algorithm(), Algorithm::one_shot) << of_plain.explain();
  } else {
    EXPECT_EQ(of_mapped.algorithm(), of_plain.algorithm()) << of_mapped.explain();
  }
}

/// Each host's elements leave it once, and the result comes back once: no allreduce of two hosts sends less.
TEST(Allreduce, SendsTheLeastBetweenTwoHosts) {
  const Context context(MPI_COMM_WORLD);
  if (this_job().hosts() != 2) GTEST_SKIP() << "for two hosts";
  if (!on_host && !this_job().is_even()) GTEST_SKIP() << "for hosts with equally many GPUs";
  constexpr std::int64_t count = 300'007;
  const Kokkos::View<float*, Space> view("gradients", count);
  Allreduce allreduce(Space(), context, view, {.algorithm = Algorithm::hierarchical});
  for (int round = 0; round < 3; ++round) allreduce.run(Space());
  std::int64_t sent = allreduce.bytes_between_hosts();
  MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sent, 3 * 2 * count * static_cast<std::int64_t>(sizeof(float)));
}

/// One rank of each host speaks to the other's, whatever they combine by: all elements there, and all back.
TEST(Allreduce, SendsBetweenTheFirstRanksOfTwoHosts) {
  if (!on_host) GTEST_SKIP() << "for hosts";
  const Context context(MPI_COMM_WORLD);
  if (this_job().hosts() != 2) GTEST_SKIP() << "for two hosts";
  constexpr std::int64_t count = 300'007;
  const Kokkos::View<float*, Space> view("gradients", count);
  for (const auto outer : {Algorithm::shared_buffer_tree, Algorithm::binomial_tree,
                           Algorithm::recursive_doubling, Algorithm::ring, Algorithm::mpi}) {
    const AllreduceOptions options{
        .algorithm = Algorithm::hierarchical, .allow_reordering = true, .outer = outer};
    Allreduce allreduce(Space(), context, view, options);
    allreduce.run(Space());
    std::int64_t sent = allreduce.bytes_between_hosts();
    MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(sent, 2 * count * static_cast<std::int64_t>(sizeof(float))) << to_string(outer);
  }
}

}  // namespace
}  // namespace selvage::test
