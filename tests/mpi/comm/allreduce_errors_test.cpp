#include "allreduce_elements.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/gradient_buckets.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>
#include <utility>

namespace selvage::test {
namespace {

using Algorithm = AllreduceAlgorithm;
using Operation = ReduceOperation;

class AllreduceErrors : public testing::Test {
 protected:
  AllreduceErrors() : context_(MPI_COMM_WORLD) {}
  [[nodiscard]] bool is_last() const { return context_.rank() == context_.size() - 1; }

  template <class View>
  std::string refusal(ErrorKind kind, const AllreduceOptions& options, const View& view) {
    return message_on_all_ranks(kind, [&] { Allreduce(Space(), context_, view, options); });
  }
  const Context context_;
};

TEST_F(AllreduceErrors, NameTheRanksWhoseCountsDiffer) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const Kokkos::View<double*, Space> view("gradients", is_last() ? 11 : 10);
  const std::string message = refusal(ErrorKind::usage, {}, view);
  EXPECT_NE(message.find("10 on rank 0, 11 on rank " + std::to_string(context_.size() - 1)),
            std::string::npos)
      << message;
}
TEST_F(AllreduceErrors, NameTheRanksWhoseOperationsDiffer) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const Kokkos::View<double*, Space> view("gradients", 10);
  const std::string message =
      refusal(ErrorKind::usage, {.operation = is_last() ? Operation::max : Operation::min}, view);
  EXPECT_NE(message.find("the operation: min on rank 0, max on rank"), std::string::npos) << message;
}
TEST_F(AllreduceErrors, LeaveTheViewAsItIsWhereAnInputIsRefused) {
  const Space space;
  const Kokkos::View<double*, Space> all("all", 150);
  const auto view = Kokkos::subview(all, std::pair(0, 100));
  const Kokkos::View<double*, Space> input("input", 100);
  Kokkos::deep_copy(view, 1.0);
  Kokkos::deep_copy(input, 100.0);
  Allreduce allreduce(space, context_, view);
  auto pending = allreduce.start(space);
  EXPECT_EQ(message_on_all_ranks(ErrorKind::usage, [&] { allreduce.run(space, input); }),
            "operation 1 of an Allreduce is still in flight: finish() it first");
  allreduce.finish(space, std::move(pending));
  const auto sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(sums(i), context_.size()) << i;
  const auto overlapping = Kokkos::subview(all, std::pair(40, 140));
  const auto error = thrown_by([&] { allreduce.run(space, overlapping); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_EQ(error->message(), "an Allreduce of the View \"all\" on rank " + std::to_string(context_.rank()) +
                                  " can't take the View \"all\", which shares memory with it");
}
TEST_F(AllreduceErrors, RefuseGaps) {
  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> all("all", 8, 8);
  const auto some = Kokkos::subview(all, std::pair(0, 4), Kokkos::ALL());
  const std::string message = refusal(ErrorKind::usage, {}, some);
  EXPECT_NE(message.find("gaps"), std::string::npos) << message;
}
TEST_F(AllreduceErrors, NameTheOneRankThatHasGaps) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> all("all", 8, 8);
  const auto some = Kokkos::subview(all, std::pair(0, is_last() ? 4 : 8), Kokkos::ALL());
  const std::string message = refusal(ErrorKind::usage, {}, some);
  EXPECT_NE(message.find("gaps"), std::string::npos) << message;
  EXPECT_NE(message.find("(on rank " + std::to_string(context_.size() - 1) + ")"), std::string::npos)
      << message;
}
TEST_F(AllreduceErrors, NameTheRanksThatMakeSomethingElse) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const Kokkos::View<double*, Space> view("gradients", 10);
  const std::string message = message_on_all_ranks(ErrorKind::usage, [&] {
    if (is_last()) {
      const GradientBuckets buckets(Space(), context_, {}, view);
    } else {
      const Allreduce allreduce(Space(), context_, view);
    }
  });
  EXPECT_EQ(message,
            "ranks don't make the same calls in the same order: rank 0 is in the construction of an "
            "Allreduce, rank " +
                std::to_string(context_.size() - 1) + " in the construction of GradientBuckets");
}
TEST_F(AllreduceErrors, ListTheAlgorithmsForAnUnknownOne) {
  const ScopedVariable variable("SELVAGE_ALLREDUCE", "telepathy");
  const Kokkos::View<double*, Space> view("gradients", 10);
  const std::string message = refusal(ErrorKind::input, {}, view);
  EXPECT_NE(message.find("one_shot, one_shot_ll128, two_shot, two_shot_ll128, two_shot_push, "
                         "two_shot_copy_engine, copy_engine, shared_buffer_tree, hierarchical, mpi, nccl, "
                         "binomial_tree, recursive_doubling, ring, "
                         "segmented_ring, recursive_doubling_ll, multi_ring, pipelined"),
            std::string::npos)
      << message;
}
TEST_F(AllreduceErrors, SayWhatAllowsAnotherOrder) {
  const Kokkos::View<double*, Space> view("gradients", 10);
  for (const auto algorithm :
       {Algorithm::binomial_tree, Algorithm::recursive_doubling, Algorithm::ring, Algorithm::segmented_ring,
        Algorithm::recursive_doubling_ll, Algorithm::multi_ring, Algorithm::pipelined}) {
    const std::string message = refusal(ErrorKind::unsupported, {.algorithm = algorithm}, view);
    EXPECT_NE(message.find("the option allow_reordering, or SELVAGE_ALLREDUCE_REORDERING=yes, allows that"),
              std::string::npos)
        << message;
  }
  const std::string message =
      refusal(ErrorKind::unsupported,
              {.algorithm = Algorithm::hierarchical, .inner = Algorithm::shared_buffer_tree}, view);
  EXPECT_NE(message.find("the option allow_reordering"), std::string::npos) << message;
}
TEST_F(AllreduceErrors, NameTheRanksThatAllowAnotherOrder) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const Kokkos::View<double*, Space> view("gradients", 10);
  const std::string message = refusal(ErrorKind::usage, {.allow_reordering = is_last()}, view);
  EXPECT_NE(message.find("the option allow_reordering: false on rank 0, true on rank"), std::string::npos)
      << message;
}
TEST_F(AllreduceErrors, NameTheRanksWhoseLevelsDiffer) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const Kokkos::View<double*, Space> view("gradients", 10);
  AllreduceOptions options{
      .algorithm = Algorithm::hierarchical, .allow_reordering = true, .inner = Algorithm::shared_buffer_tree};
  options.outer = is_last() ? Algorithm::ring : Algorithm::binomial_tree;
  const std::string outer = refusal(ErrorKind::usage, options, view);
  EXPECT_NE(outer.find("the outer algorithm: binomial_tree on rank 0, ring on rank"), std::string::npos)
      << outer;
  options = {.algorithm = Algorithm::pipelined, .allow_reordering = true, .group_size = is_last() ? 2 : 1};
  const std::string size = refusal(ErrorKind::usage, options, view);
  EXPECT_NE(size.find("the group size: 1 on rank 0, 2 on rank"), std::string::npos) << size;
}

}  // namespace
}  // namespace selvage::test
