#include "allreduce_oracle.hpp"
#include "thrown.hpp"

#include <selvage/comm/gradient_buckets.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Gradient = Kokkos::View<float*, Space::memory_space>;
using Operation = ReduceOperation;

const std::vector<std::int64_t> lengths{1, 300, 17, 0, 4096, 5, 2000, 640};

/// Gradients of a model: each allocated for itself, or one after the other in one allocation.
class Model {
 public:
  explicit Model(bool is_one_allocation) {
    if (is_one_allocation) {
      const Gradient all(
          "all", static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})));
      std::int64_t begin = 0;
      for (const std::int64_t length : lengths) {
        gradients.push_back(Kokkos::subview(all, std::pair(begin, begin + length)));
        begin += length;
      }
    } else {
      for (const std::int64_t length : lengths)
        gradients.push_back(
            Gradient("weights " + std::to_string(gradients.size()), static_cast<std::size_t>(length)));
    }
  }

  void fill(int gradient, int rank, int step) const {
    const Gradient& view = gradients[static_cast<std::size_t>(gradient)];
    const auto values = Kokkos::create_mirror_view(view);
    for (std::size_t i = 0; i < values.size(); ++i)
      values(i) = value_at<float>(rank, index_of(gradient, i), step);
    Kokkos::deep_copy(view, values);
  }
  /// The first gradient that holds something else; -1 if there is none.
  [[nodiscard]] int first_wrong(Operation operation, int ranks, int step) const {
    for (int g = 0; g < count(); ++g) {
      if (!is_right(g, operation, ranks, step)) return g;
    }
    return -1;
  }
  [[nodiscard]] bool is_right(int gradient, Operation operation, int ranks, int step) const {
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                            gradients[static_cast<std::size_t>(gradient)]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!same_bits(values(i), expected_at<float>(operation, ranks, index_of(gradient, i), step)))
        return false;
    }
    return true;
  }
  [[nodiscard]] int count() const { return static_cast<int>(gradients.size()); }

  std::vector<Gradient> gradients;

 private:
  static std::int64_t index_of(int gradient, std::size_t i) {
    return gradient * 10'007 + static_cast<std::int64_t>(i);
  }
};

std::vector<int> backwards(int count) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

class GradientBucketsTest : public testing::Test {
 protected:
  void step(GradientBuckets& buckets, const Model& model, const std::vector<int>& order, int number) const {
    for (const int gradient : order) {
      model.fill(gradient, context_.rank(), number);
      buckets.ready(space_, gradient);
    }
    buckets.finish(space_);
    space_.fence();
    buckets.check();
  }
  /// Several steps; the order of later ones is another on each rank.
  void expect_right(const Model& model, const GradientBuckets::Options& options) const {
    GradientBuckets buckets(space_, context_, options, model.gradients);
    EXPECT_TRUE(buckets.report().empty());
    std::minstd_rand dice(static_cast<unsigned>(context_.rank()));
    std::vector<int> order = backwards(model.count());
    for (int number = 0; number < 6; ++number) {
      step(buckets, model, order, number);
      ASSERT_EQ(model.first_wrong(options.operation, context_.size(), number), -1)
          << "step " << number << ", buckets of " << options.bucket_bytes << " bytes";
      if (number >= 2) std::ranges::shuffle(order, dice);
    }
  }

  const Space space_;
  const Context context_{MPI_COMM_WORLD};
};

TEST_F(GradientBucketsTest, GiveTheBitsOfAnAllreduceHoweverTheyAreCut) {
  for (const bool is_one_allocation : {false, true}) {
    const Model model(is_one_allocation);
    for (const Operation operation : {Operation::average, Operation::sum, Operation::max}) {
      for (const std::int64_t bucket_bytes : {1, 4000, 1 << 20})
        expect_right(model, {.operation = operation, .bucket_bytes = bucket_bytes});
    }
  }
}

TEST_F(GradientBucketsTest, AreReducedInPlaceWhereGradientsFollowEachOther) {
  for (const bool is_one_allocation : {false, true}) {
    const Model model(is_one_allocation);
    GradientBuckets buckets(space_, context_, {.bucket_bytes = 10'000}, model.gradients);
    step(buckets, model, backwards(model.count()), 0);
    std::vector<int> seen;
    for (const GradientBuckets::Report& bucket : buckets.report()) {
      const bool is_single =
          std::ranges::count_if(bucket.gradients, [](int g) { return lengths[g] > 0; }) == 1;
      EXPECT_EQ(bucket.is_in_place, is_one_allocation || is_single);
      seen.insert(seen.end(), bucket.gradients.begin(), bucket.gradients.end());
    }
    // Backward: 640 and 2000 and 5 elements are more than 10 000 bytes, so the cut is before 5.
    EXPECT_EQ(buckets.report().front().gradients, std::vector<int>({7}));
    EXPECT_EQ(seen, backwards(model.count()));
  }
}

TEST_F(GradientBucketsTest, ReduceAllViewsInOneCall) {
  const Model model(false);
  for (const Operation operation : {Operation::sum, Operation::min, Operation::product}) {
    GradientBuckets buckets(space_, context_, {.operation = operation, .bucket_bytes = 4000},
                            model.gradients);
    for (int number = 0; number < 3; ++number) {
      for (int gradient = 0; gradient < model.count(); ++gradient)
        model.fill(gradient, context_.rank(), number);
      buckets.run(space_);
      space_.fence();
      buckets.check();
      ASSERT_EQ(model.first_wrong(operation, context_.size(), number), -1) << "step " << number;
    }
  }
}

TEST_F(GradientBucketsTest, MayLieDifferentlyInEachRanksMemory) {
  for (const int first : {0, 1}) {
    const Model model(context_.rank() % 2 == first);
    expect_right(model, {.bucket_bytes = 10'000});
  }
}

TEST_F(GradientBucketsTest, FollowTheOrderOfTheFirstRank) {
  const Model model(false);
  GradientBuckets buckets(space_, context_, {.bucket_bytes = 1}, model.gradients);
  std::vector<int> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::rotate(order, order.begin() + context_.rank() % 5);
  step(buckets, model, order, 0);
  std::vector<int> agreed;
  for (const GradientBuckets::Report& bucket : buckets.report()) agreed.push_back(bucket.gradients.front());
  std::vector<int> expected(lengths.size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(agreed, expected);
}

TEST_F(GradientBucketsTest, TakeViewsOfSeveralTypes) {
  const Kokkos::View<double*, Space> wide("wide", 100);
  const Kokkos::View<float**, Space> narrow("narrow", 10, 20);
  const Kokkos::View<std::int32_t*, Space> counts("counts", 7);
  GradientBuckets buckets(space_, context_, {.operation = Operation::sum}, wide, narrow, counts);
  for (int number = 0; number < 3; ++number) {
    Kokkos::deep_copy(wide, context_.rank() + number + 0.5);
    Kokkos::deep_copy(narrow, static_cast<float>(context_.rank()) + 0.25F);
    Kokkos::deep_copy(counts, context_.rank() + 1);
    for (const int gradient : {2, 0, 1}) buckets.ready(space_, gradient);
    buckets.finish(space_);
    space_.fence();
    const int ranks = context_.size();
    const double ranks_sum = ranks * (ranks - 1) / 2.0;
    EXPECT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), wide)(99),
              ranks_sum + ranks * (number + 0.5));
    EXPECT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), narrow)(9, 19),
              ranks_sum + ranks * 0.25);
    EXPECT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts)(6), ranks * (ranks + 1) / 2);
  }
  EXPECT_EQ(buckets.report().size(), 3U);
}

TEST_F(GradientBucketsTest, RoundToBf16OnTheWireWhereAsked) {
  const Model model(true);
  GradientBuckets buckets(space_, context_, {.bucket_bytes = 4000, .bf16_on_the_wire = true},
                          model.gradients);
  for (int number = 0; number < 3; ++number) {
    step(buckets, model, backwards(model.count()), number);
    for (int g = 0; g < model.count(); ++g) {
      const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                              model.gradients[static_cast<std::size_t>(g)]);
      for (std::size_t i = 0; i < values.size(); ++i) {
        float sum = 0;
        for (int rank = 0; rank < context_.size(); ++rank) {
          const float value = value_at<float>(rank, g * 10'007 + static_cast<std::int64_t>(i), number);
          sum += rounded_to_bf16(value);
        }
        const float average = sum / static_cast<float>(context_.size());
        ASSERT_TRUE(same_bits(values(i), rounded_to_bf16(average))) << g << ", " << i;
      }
    }
  }
  std::int64_t bytes = 0;
  for (const GradientBuckets::Report& bucket : buckets.report()) bytes += bucket.bytes;
  EXPECT_EQ(bytes, 2 * std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
}

TEST_F(GradientBucketsTest, GiveAllButTheLastBucketBeforeTheEnd) {
  const Model model(true);
  for (const std::int64_t bucket_bytes : {1, 4000, 1 << 20}) {
    GradientBuckets buckets(space_, context_, {.operation = Operation::sum, .bucket_bytes = bucket_bytes},
                            model.gradients);
    for (int number = 0; number < 3; ++number) {
      for (const int gradient : backwards(model.count())) {
        model.fill(gradient, context_.rank(), number);
        buckets.ready(space_, gradient);
      }
      const auto last = buckets.finish_all_but_last(space_);
      space_.fence();
      for (int gradient = 0; gradient < model.count(); ++gradient) {
        if (std::ranges::find(last, gradient) != last.end()) continue;
        EXPECT_TRUE(model.is_right(gradient, Operation::sum, context_.size(), number)) << gradient;
        // As an update would, which the last bucket mustn't undo.
        Kokkos::deep_copy(space_, model.gradients[static_cast<std::size_t>(gradient)], -1.0F);
      }
      buckets.finish(space_);
      space_.fence();
      EXPECT_TRUE(std::ranges::equal(last, buckets.report().back().gradients));
      EXPECT_EQ(last.size() == static_cast<std::size_t>(model.count()), buckets.report().size() == 1);
      for (const int gradient : last)
        EXPECT_TRUE(model.is_right(gradient, Operation::sum, context_.size(), number)) << gradient;
    }
  }
}

TEST_F(GradientBucketsTest, ExplainHowEachBucketIsReduced) {
  const Model model(false);
  GradientBuckets buckets(space_, context_, {.bucket_bytes = 4000}, model.gradients);
  EXPECT_EQ(buckets.explain(), "");
  step(buckets, model, backwards(model.count()), 0);
  const std::string text = buckets.explain();
  const auto reports = buckets.report();
  for (std::size_t number = 0; number < reports.size(); ++number) {
    const std::size_t line = text.find("bucket " + std::to_string(number) + ", ");
    ASSERT_NE(line, std::string::npos) << text;
    const std::string algorithm(to_string(reports[number].algorithm));
    EXPECT_NE(text.substr(line, text.find('\n', line) - line).find(algorithm), std::string::npos) << text;
  }
}

TEST_F(GradientBucketsTest, ReportWhatWasHiddenAndWhatWasNot) {
  const Model model(true);
  GradientBuckets buckets(space_, context_, {.bucket_bytes = 4000}, model.gradients);
  for (int number = 0; number < 3; ++number) step(buckets, model, backwards(model.count()), number);
  double total = 0;
  for (const GradientBuckets::Report& bucket : buckets.report()) {
    EXPECT_GE(bucket.hidden, 0);
    EXPECT_GE(bucket.exposed, 0);
    EXPECT_DOUBLE_EQ(bucket.hidden + bucket.exposed, bucket.seconds);
    total += bucket.seconds;
  }
  EXPECT_GT(total, 0);
}

TEST_F(GradientBucketsTest, HideWhatIsDoneWhileTheCallerComputes) {
  if (context_.size() == 1) GTEST_SKIP() << "nothing to reduce";
  const Model model(true);
  GradientBuckets buckets(space_, context_, {.bucket_bytes = 1}, model.gradients);
  step(buckets, model, backwards(model.count()), 0);
  const std::vector<int> order = backwards(model.count());
  for (std::size_t i = 0; i < order.size(); ++i) {
    model.fill(order[i], context_.rank(), 1);
    // All but the last bucket were started before, by all ranks: one that only starts in finish() isn't done here.
    if (i + 1 == order.size()) MPI_Barrier(MPI_COMM_WORLD);
    buckets.ready(space_, order[i]);
  }
  buckets.finish(space_);
  space_.fence();
  EXPECT_EQ(model.first_wrong(Operation::average, context_.size(), 1), -1);
  double hidden = 0;
  for (const GradientBuckets::Report& bucket : buckets.report()) hidden += bucket.hidden;
  EXPECT_GT(hidden, 0);
}

TEST_F(GradientBucketsTest, SayWhichGradientIsMissingOrReadyTwice) {
  const Model model(false);
  GradientBuckets buckets(space_, context_, {}, model.gradients);
  for (int gradient = 0; gradient < model.count() - 1; ++gradient) buckets.ready(space_, gradient);
  EXPECT_TRUE(thrown_by([&] { static_cast<void>(buckets.finish_all_but_last(space_)); }));
  const auto missing = thrown_by([&] { buckets.finish(space_); });
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->kind(), ErrorKind::usage);
  EXPECT_NE(missing->message().find("1 of 8 gradients aren't ready: the first is gradient 7 \"weights 7\""),
            std::string::npos)
      << missing->message();
  const auto twice = thrown_by([&] { buckets.ready(space_, 2); });
  ASSERT_TRUE(twice);
  EXPECT_NE(twice->message().find("gradient 2 \"weights 2\" is ready twice in step 1"), std::string::npos)
      << twice->message();
  const auto unknown = thrown_by([&] { buckets.ready(space_, 8); });
  ASSERT_TRUE(unknown);
  EXPECT_NE(unknown->message().find("gradient 8 is ready: there are 8"), std::string::npos)
      << unknown->message();
}

TEST_F(GradientBucketsTest, NameWhatDiffersBetweenRanks) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const bool is_last = context_.rank() == context_.size() - 1;
  const Gradient a("a", 10);
  const Gradient b("b", is_last ? 11 : 10);
  const std::string message =
      message_on_all_ranks(ErrorKind::usage, [&] { GradientBuckets(space_, context_, {}, a, b); });
  EXPECT_NE(message.find("the number of elements of gradient 1 \"b\": 10 on rank 0, 11 on rank " +
                         std::to_string(context_.size() - 1)),
            std::string::npos)
      << message;
  const std::vector<Gradient> some(is_last ? 2 : 1, a);
  const std::string number =
      message_on_all_ranks(ErrorKind::usage, [&] { GradientBuckets(space_, context_, {}, some); });
  EXPECT_NE(number.find("the number of gradients"), std::string::npos) << number;
}

TEST_F(GradientBucketsTest, FindOptionsThatDifferWhenMade) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const Gradient a("a", 10);
  const auto refusal = [&](const GradientBuckets::Options& others, const GradientBuckets::Options& of_last) {
    const bool is_last = context_.rank() == context_.size() - 1;
    return message_on_all_ranks(ErrorKind::usage,
                                [&] { GradientBuckets(space_, context_, is_last ? of_last : others, a); });
  };
  const std::string operation = refusal({.operation = Operation::sum}, {.operation = Operation::max});
  EXPECT_NE(operation.find("the operation: sum on rank 0, max on rank"), std::string::npos) << operation;
  const std::string fast = refusal({}, {.allow_reordering = true});
  EXPECT_NE(fast.find("the option allow_reordering: false on rank 0, true on rank"), std::string::npos)
      << fast;
}

TEST_F(GradientBucketsTest, FindAlgorithmsThatArentPossibleWhenMade) {
  const Gradient a("a", 10);
  const std::string message = message_on_all_ranks(ErrorKind::unsupported, [&] {
    GradientBuckets(space_, context_, {.algorithm = AllreduceAlgorithm::ring}, a);
  });
  EXPECT_NE(message.find("the option allow_reordering"), std::string::npos) << message;
}

TEST_F(GradientBucketsTest, OutliveAFirstStepThatFindsNoMemory) {
  using Huge = Kokkos::View<double*, Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible)
    GTEST_SKIP() << "where a host knows how much memory it has";
  double element = 0;
  const std::vector<Huge> gradients(2, Huge(&element, std::size_t{1} << 45));
  GradientBuckets buckets(space_, context_, {.bucket_bytes = std::int64_t{1} << 50}, gradients);
  for (const int gradient : {0, 1}) buckets.ready(space_, gradient);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string message = message_on_all_ranks(ErrorKind::io, [&] { buckets.finish(space_); });
    EXPECT_NE(message.find("this host has"), std::string::npos) << message;
    buckets.check();
  }
}

TEST(GradientBuckets, NameTheRankThatNeverComes) {
  const ShortTimeout variable;
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "nobody to wait for";
  const Space space;
  const Gradient gradient("gradient", 1000);
  GradientBuckets buckets(space, context, {}, gradient);
  buckets.ready(space, 0);
  buckets.finish(space);
  space.fence();
  const int last = context.size() - 1;
  int names_it = 0;
  if (context.rank() != last) {
    const auto error = thrown_by([&] {
      buckets.ready(space, 0);
      buckets.finish(space);
      space.fence();
      buckets.check();
    });
    EXPECT_EQ(error ? to_string(error->kind()) : "none", to_string(ErrorKind::timeout));
    names_it = error && error->message().find("rank " + std::to_string(last)) != std::string::npos ? 1 : 0;
    const auto again = thrown_by([&] { buckets.ready(space, 0); });
    const std::string message = error ? error->message() : "";
    // What a kernel met each call tells as it is; what the host met, between hosts on GPUs too, is told as the cause.
    const bool is_of_host = detail::is_host_space<Kokkos::DefaultExecutionSpace> ||
                            message.find("hierarchical") != std::string::npos;
    EXPECT_EQ(again ? again->message() : "none",
              (is_of_host ? "GradientBuckets can't go on after an error: " : "") + message);
  }
  MPI_Allreduce(MPI_IN_PLACE, &names_it, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(names_it, 1);
}

}  // namespace
}  // namespace selvage::test
