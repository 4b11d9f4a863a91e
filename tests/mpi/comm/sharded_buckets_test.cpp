#include "allreduce_oracle.hpp"
#include "thrown.hpp"

#include <selvage/comm/sharded_buckets.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using View = Kokkos::View<float*, Space::memory_space>;

const std::vector<std::int64_t> shard_lengths{1, 300, 17, 0, 4096, 5, 2000, 640};

/// Views of those shard_lengths, each for itself or one after the other in one allocation.
std::vector<View> make_views(const std::string& name, bool is_one_allocation) {
  std::vector<View> views;
  const View all(name, static_cast<std::size_t>(
                           std::accumulate(shard_lengths.begin(), shard_lengths.end(), std::int64_t{0})));
  std::int64_t begin = 0;
  for (const std::int64_t length : shard_lengths) {
    views.push_back(is_one_allocation ? View(Kokkos::subview(all, std::pair(begin, begin + length)))
                                      : View(name, static_cast<std::size_t>(length)));
    begin += length;
  }
  return views;
}

/// Momentum: of what each rank keeps, only its shards are ever touched.
struct Momentum {
  View parameter;
  View gradient;
  View velocity;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    velocity(i) = 0.5F * velocity(i) + gradient(i);
    parameter(i) -= 0.25F * velocity(i);
  }
};

float initial_at(int gradient, std::size_t i) {
  return value_at<float>(99, gradient * 10'007 + static_cast<std::int64_t>(i), 0);
}

class ShardedBucketsTest : public testing::Test {
 protected:
  struct Model {
    explicit Model(bool is_one_allocation)
        : gradients(make_views("gradients", is_one_allocation)),
          parameters(make_views("parameters", is_one_allocation)),
          velocities(make_views("velocities", false)) {}
    std::vector<View> gradients;
    std::vector<View> parameters;
    std::vector<View> velocities;
  };
  struct Shard {
    int gradient;
    ElementRange elements;
  };
  [[nodiscard]] static auto momentum_of(const Model& model, std::vector<Shard>& shards) {
    return [&model, &shards](const Space& instance, int gradient, const ElementRange& shard) {
      shards.push_back({gradient, shard});
      const auto g = static_cast<std::size_t>(gradient);
      Kokkos::parallel_for("momentum",
                           Kokkos::RangePolicy<Space>(instance, shard.begin, shard.begin + shard.count),
                           Momentum{model.parameters[g], model.gradients[g], model.velocities[g]});
    };
  }
  void fill(const View& view, int gradient, int step) const {
    const auto values = Kokkos::create_mirror_view(view);
    for (std::size_t i = 0; i < values.size(); ++i)
      values(i) = value_at<float>(context_.rank(), gradient * 10'007 + static_cast<std::int64_t>(i), step);
    Kokkos::deep_copy(view, values);
  }
  /// All of it on the host, on every rank.
  struct Oracle {
    std::vector<std::vector<float>> parameters;
    std::vector<std::vector<float>> velocities;
    Oracle() {
      for (std::size_t g = 0; g < shard_lengths.size(); ++g) {
        parameters.emplace_back(static_cast<std::size_t>(shard_lengths[g]));
        velocities.emplace_back(static_cast<std::size_t>(shard_lengths[g]), 0.0F);
        for (std::size_t i = 0; i < parameters[g].size(); ++i)
          parameters[g][i] = initial_at(static_cast<int>(g), i);
      }
    }
    void step(int ranks, int number) {
      for (std::size_t g = 0; g < shard_lengths.size(); ++g) {
        for (std::size_t i = 0; i < parameters[g].size(); ++i) {
          const float gradient = expected_at<float>(ReduceOperation::average, ranks,
                                                    static_cast<std::int64_t>(g * 10'007 + i), number);
          velocities[g][i] = 0.5F * velocities[g][i] + gradient;
          parameters[g][i] -= 0.25F * velocities[g][i];
        }
      }
    }
    [[nodiscard]] int first_wrong(const std::vector<View>& views) const {
      for (std::size_t g = 0; g < views.size(); ++g) {
        const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), views[g]);
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (!same_bits(values(i), parameters[g][i])) return static_cast<int>(g);
        }
      }
      return -1;
    }
  };
  void initialize(const Model& model) const {
    for (std::size_t g = 0; g < model.parameters.size(); ++g) {
      const auto values = Kokkos::create_mirror_view(model.parameters[g]);
      for (std::size_t i = 0; i < values.size(); ++i) values(i) = initial_at(static_cast<int>(g), i);
      Kokkos::deep_copy(model.parameters[g], values);
    }
  }
  template <class Ready>
  void step(ShardedBuckets& buckets, const Model& model, int number, const Ready& order) const {
    for (const int gradient : order) {
      fill(model.gradients[static_cast<std::size_t>(gradient)], gradient, number);
      buckets.ready(space_, gradient);
    }
    buckets.finish(space_);
    space_.fence();
    buckets.check();
  }

  const Space space_;
  const Context context_{MPI_COMM_WORLD};
  const std::vector<int> backwards_{7, 6, 5, 4, 3, 2, 1, 0};
};

TEST_F(ShardedBucketsTest, GiveTheBitsOfUpdatingEverythingOnEveryRank) {
  for (const bool is_one_allocation : {false, true}) {
    for (const std::int64_t bucket_bytes : {1, 4000, 1 << 20}) {
      const Model model(is_one_allocation);
      initialize(model);
      std::vector<Shard> shards;
      ShardedBuckets buckets(space_, context_, {.bucket_bytes = bucket_bytes}, model.gradients,
                             model.parameters, momentum_of(model, shards));
      Oracle oracle;
      for (int number = 0; number < 5; ++number) {
        step(buckets, model, number, backwards_);
        oracle.step(context_.size(), number);
        ASSERT_EQ(oracle.first_wrong(model.parameters), -1)
            << "step " << number << ", buckets of " << bucket_bytes << " bytes";
      }
    }
  }
}

TEST_F(ShardedBucketsTest, UpdateEachElementOnOneRank) {
  const Model model(true);
  initialize(model);
  std::vector<Shard> shards;
  ShardedBuckets buckets(space_, context_, {.bucket_bytes = 4000}, model.gradients, model.parameters,
                         momentum_of(model, shards));
  for (int number = 0; number < 2; ++number) {
    shards.clear();
    step(buckets, model, number, backwards_);
    for (std::size_t g = 0; g < shard_lengths.size(); ++g) {
      std::vector<int> updates(static_cast<std::size_t>(shard_lengths[g]), 0);
      for (const Shard& shard : shards) {
        if (shard.gradient != static_cast<int>(g)) continue;
        for (std::int64_t i = 0; i < shard.elements.count; ++i)
          ++updates.at(static_cast<std::size_t>(shard.elements.begin + i));
      }
      MPI_Allreduce(MPI_IN_PLACE, updates.data(), static_cast<int>(updates.size()), MPI_INT, MPI_SUM,
                    context_.comm());
      EXPECT_EQ(updates, std::vector<int>(updates.size(), 1)) << "gradient " << g;
    }
  }
}

/// Gradients are rounded, parameters aren't.
TEST_F(ShardedBucketsTest, GatherParametersInTheirOwnType) {
  const Model model(true);
  initialize(model);
  std::vector<Shard> shards;
  ShardedBuckets buckets(space_, context_, {.bucket_bytes = 4000, .bf16_on_the_wire = true}, model.gradients,
                         model.parameters, momentum_of(model, shards));
  step(buckets, model, 0, backwards_);
  std::int64_t fine = 0;
  for (std::size_t g = 0; g < shard_lengths.size(); ++g) {
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.parameters[g]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      float sum = 0;
      for (int rank = 0; rank < context_.size(); ++rank)
        sum += rounded_to_bf16(value_at<float>(rank, static_cast<std::int64_t>(g * 10'007 + i), 0));
      const float average = rounded_to_bf16(sum / static_cast<float>(context_.size()));
      ASSERT_TRUE(same_bits(values(i), initial_at(static_cast<int>(g), i) - 0.25F * average))
          << g << ", " << i;
      fine += same_bits(values(i), rounded_to_bf16(values(i))) ? 0 : 1;
    }
  }
  EXPECT_GT(fine, 1000) << "parameters that bf16 can't hold";
}

TEST_F(ShardedBucketsTest, NameTheRanksWhoseParametersAreOfOtherTypes) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const std::vector<View> gradients{View("gradient", 10)};
  const auto ignore = [](const Space&, int, const ElementRange&) {};
  const std::string message = message_on_all_ranks(ErrorKind::usage, [&] {
    if (context_.rank() == 0) {
      const std::vector<Kokkos::View<double*, Space::memory_space>> fine{
          Kokkos::View<double*, Space::memory_space>("fine", 10)};
      ShardedBuckets(space_, context_, {}, gradients, fine, ignore);
    } else {
      ShardedBuckets(space_, context_, {}, gradients, gradients, ignore);
    }
  });
  EXPECT_NE(message.find("the parameters' type: fp64 on rank 0, fp32 on rank 1"), std::string::npos)
      << message;
}

TEST_F(ShardedBucketsTest, RefuseParametersThatDontFit) {
  const Model model(false);
  std::vector<Shard> shards;
  const auto refusal = [&](const std::vector<View>& parameters) {
    const auto error = thrown_by([&] {
      ShardedBuckets(space_, context_, {}, model.gradients, parameters, momentum_of(model, shards));
    });
    EXPECT_TRUE(error);
    EXPECT_EQ(error ? error->kind() : ErrorKind::mpi, ErrorKind::usage);
    return error ? error->message() : "";
  };
  std::vector<View> fewer = model.parameters;
  fewer.pop_back();
  EXPECT_NE(refusal(fewer).find("8 gradients and 7 parameters"), std::string::npos);
  std::vector<View> shorter = model.parameters;
  shorter[4] = View("shorter", 4095);
  EXPECT_NE(refusal(shorter).find("gradient 4 \"gradients\" has 4095 elements in a row, not 4096"),
            std::string::npos);
}

}  // namespace
}  // namespace selvage::test
