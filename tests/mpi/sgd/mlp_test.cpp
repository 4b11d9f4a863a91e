#include "sgd/mlp.hpp"

#include "sgd/fixed_point.hpp"
#include "sgd/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace selvage::sgd {
namespace {

constexpr std::int64_t samples = 6;

/// A perceptron with two hidden layers, random inputs and labels.
struct Sample {
  Space space;
  Mlp model{{5, 7, 4, 3}, samples};
  Vector<int> labels{"labels", samples};

  Sample() {
    model.draw_parameters(1);
    Random random(2, 0);
    for (std::int64_t i = 0; i < samples; ++i) {
      for (int j = 0; j < 5; ++j) model.input()(i, j) = 2 * random.uniform() - 1;
      labels(i) = static_cast<int>(random.below(3));
    }
  }
  double loss(SampleRange range = {0, samples}) {
    model.forward(space, range);
    return fixed_point::to_real(model.score(space, range, labels).loss);
  }
  std::vector<float> gradient(SampleRange range) {
    static_cast<void>(loss(range));
    const Vector<float> all("gradients", model.parameters().extent(0));
    for (int layer = model.layers() - 1; layer >= 0; --layer) {
      model.gradients(space, layer, range, all);
      if (layer > 0) model.propagate(space, layer, range);
    }
    return {all.data(), all.data() + all.extent(0)};
  }
};

TEST(Mlp, GradientsAreTheLossesDifferences) {
  Sample sample;
  const auto gradient = sample.gradient({0, samples});
  const Vector<float> parameters = sample.model.parameters();
  constexpr float step = 1.0F / 128;
  double largest = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const float middle = parameters(i);
    parameters(i) = middle + step;
    const double above = sample.loss();
    parameters(i) = middle - step;
    const double below = sample.loss();
    parameters(i) = middle;
    // Central differences of fp32 losses: their rounding over the step, and the step squared.
    EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 1e-3) << "parameter " << i;
    largest = std::max(largest, std::abs(static_cast<double>(gradient[i])));
  }
  EXPECT_GT(largest, 0.5);
}

TEST(Mlp, ARangesGradientsAreTheSumOfItsParts) {
  Sample sample;
  const auto whole = sample.gradient({0, samples});
  const auto first = sample.gradient({0, 2});
  const auto second = sample.gradient({2, samples});
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], first[i] + second[i], 1e-5) << i;
}

TEST(Mlp, TheLossIsTheCrossEntropy) {
  Sample sample;
  Kokkos::deep_copy(sample.model.parameters(), 0.0F);
  // Every class is as likely.
  EXPECT_NEAR(sample.loss(), samples * std::log(3.0), 1e-5);
}

TEST(Mlp, TensorsFollowEachOtherByLayer) {
  const Sample sample;
  const auto& tensors = sample.model.tensors();
  ASSERT_EQ(tensors.size(), 6u);
  EXPECT_EQ(tensors[2].name, "dense2.weight");
  EXPECT_EQ(tensors[2].begin, 7 * 5 + 7);
  EXPECT_EQ(tensors[2].count, 4 * 7);
  EXPECT_EQ(tensors[5].begin + tensors[5].count,
            static_cast<std::int64_t>(sample.model.parameters().extent(0)));
}

TEST(Mlp, FirstWeightsFillTheirRangeAndDependOnTheSeed) {
  Mlp model({400, 10}, 1);
  model.draw_parameters(1);
  const float first = model.parameters()(0);
  float largest = 0;
  for (std::size_t i = 0; i < 4000; ++i) largest = std::max(largest, std::abs(model.parameters()(i)));
  EXPECT_LE(largest, 0.05F);
  EXPECT_GT(largest, 0.049F);
  model.draw_parameters(2);
  EXPECT_NE(model.parameters()(0), first);
}

TEST(Mlp, NamesTheFirstLayerThatIsNotFinite) {
  Sample sample;
  static_cast<void>(sample.loss());
  EXPECT_FALSE(sample.model.first_unusable_layer(sample.space, {0, samples}));
  const Tensor& weight = sample.model.tensors()[Mlp::weight_of(1)];
  sample.model.parameters()(weight.begin) = std::numeric_limits<float>::quiet_NaN();
  sample.model.forward(sample.space, {0, samples});
  EXPECT_EQ(sample.model.first_unusable_layer(sample.space, {0, samples}), 1);
  EXPECT_GT(sample.model.score(sample.space, {0, samples}, sample.labels).unusable, 0);
}

}  // namespace
}  // namespace selvage::sgd
