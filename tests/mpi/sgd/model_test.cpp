#include "sgd/model/model.hpp"

#include "expect_error.hpp"
#include "sgd/model/random.hpp"
#include "sgd/sums/fixed_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace selvage::sgd {
namespace {

constexpr std::int64_t samples = 12;

/// What the host sees of the space's memory.
template <class View>
auto on_the_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

ModelShape perceptron() {
  return {.inputs = 5, .hidden = {7, 4}, .classes = 3};
}

/// A model with random inputs and labels.
struct Sample {
  Space space = make_instance();
  ModelShape shape;
  Model model{space, shape, samples};
  Vector<int> labels{"labels", samples};
  StepFigures figures{1};

  explicit Sample(ModelShape wanted = perceptron()) : shape(std::move(wanted)) {
    model.draw_parameters(1);
    Random random(2, 0);
    const auto input = on_the_host(model.input());
    const auto drawn = on_the_host(labels);
    for (std::int64_t i = 0; i < samples; ++i) {
      for (int j = 0; j < shape.inputs; ++j) input(i, j) = 2 * random.uniform() - 1;
      drawn(i) = static_cast<int>(random.below(static_cast<std::uint64_t>(shape.classes)));
    }
    Kokkos::deep_copy(model.input(), input);
    Kokkos::deep_copy(labels, drawn);
  }
  std::int64_t figure(StepFigures::Column column) { return on_the_host(figures.rows)(0, int{column}); }
  void run(SampleRange range = {0, samples}) {
    Kokkos::deep_copy(figures.rows, 0);
    model.forward(range, figures);
    model.score(range, labels, figures);
    space.fence();
  }
  double loss(SampleRange range = {0, samples}) {
    run(range);
    return fixed_point::to_real(figure(StepFigures::loss));
  }
  std::optional<std::int64_t> marked(StepFigures::Column column) {
    const std::int64_t found = figure(column);
    if (found == 0) return {};
    return StepFigures::number_marked(found);
  }
  std::vector<float> gradient(SampleRange range) {
    run(range);
    const Vector<float> all("gradients", model.parameters().extent(0));
    for (int layer = model.layers() - 1; layer >= 0; --layer) {
      model.bias_gradient(layer, range, all);
      // In two parts, as where the first weight is cut.
      const RowRange rows = model.rows_of(layer);
      model.weight_gradient(layer, range, {0, rows.end / 2}, all);
      model.weight_gradient(layer, range, {rows.end / 2, rows.end}, all);
      if (layer > 0) model.propagate(layer, range);
    }
    space.fence();
    const auto host = on_the_host(all);
    return {host.data(), host.data() + host.extent(0)};
  }
  void set_parameter(std::size_t i, float value) {
    Kokkos::deep_copy(Kokkos::subview(model.parameters(), i), value);
  }
};

/// Of one parameter, by losses on both sides of it.
double difference(Sample& sample, std::size_t i, float middle) {
  constexpr float step = 1.0F / 128;
  sample.set_parameter(i, middle + step);
  const double above = sample.loss();
  sample.set_parameter(i, middle - step);
  const double below = sample.loss();
  sample.set_parameter(i, middle);
  return (above - below) / (2 * step);
}

TEST(Model, GradientsAreTheLossesDifferences) {
  Sample sample;
  const auto gradient = sample.gradient({0, samples});
  const auto parameters = on_the_host(sample.model.parameters());
  double largest = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    // Central differences of fp32 losses: their rounding over the step, and the step squared.
    EXPECT_NEAR(gradient[i], difference(sample, i, parameters(i)), 2e-3) << "parameter " << i;
    largest = std::max(largest, std::abs(static_cast<double>(gradient[i])));
  }
  EXPECT_GT(largest, 0.5);
}

/// Two convolutions, of images with an odd side and two channels.
ModelShape images() {
  return {.inputs = 5 * 6 * 2, .image = {5, 6}, .channels = {3, 4}, .hidden = {5}, .classes = 3};
}

/// The loss of images(), straight from its definition and in fp64.
class ImageLoss {
 public:
  explicit ImageLoss(Sample& sample)
      : shape_(sample.shape), input_(on_the_host(sample.model.input())), labels_(on_the_host(sample.labels)) {
    const auto parameters = on_the_host(sample.model.parameters());
    parameters_.assign(parameters.data(), parameters.data() + parameters.extent(0));
  }
  [[nodiscard]] std::size_t count() const { return parameters_.size(); }

  double difference(std::size_t i) {
    constexpr double step = 1e-6;
    const double middle = std::exchange(parameters_[i], parameters_[i] + step);
    const double above = loss();
    parameters_[i] = middle - step;
    const double below = loss();
    parameters_[i] = middle;
    return (above - below) / (2 * step);
  }
  double loss() {
    double sum = 0;
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      next_ = 0;
      std::vector<double> values(&input_(sample, 0), &input_(sample, 0) + shape_.inputs);
      auto [height, width] = shape_.image;
      for (const int channels : shape_.channels) {
        values = convolved(values, height, width, channels);
        height /= 2;
        width /= 2;
      }
      for (const int outputs : shape_.hidden) values = rectified(dense(values, outputs));
      values = dense(values, shape_.classes);
      double powers = 0;
      for (const double value : values) powers += std::exp(value);
      sum += std::log(powers) - values[static_cast<std::size_t>(labels_(sample))];
    }
    return sum;
  }

 private:
  static std::vector<double> rectified(std::vector<double> values) {
    for (double& value : values) value = std::max(value, 0.0);
    return values;
  }
  /// The next tensor's elements.
  const double* take(std::size_t count) {
    const std::size_t begin = (next_ + 3) / 4 * 4;
    next_ = begin + count;
    return &parameters_[begin];
  }
  std::vector<double> dense(const std::vector<double>& inputs, int outputs) {
    const auto units = static_cast<std::size_t>(outputs);
    const double* weight = take(inputs.size() * units);
    const double* bias = take(units);
    std::vector<double> result(bias, bias + units);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (std::size_t unit = 0; unit < units; ++unit) result[unit] += inputs[i] * weight[i * units + unit];
    return result;
  }
  std::vector<double> convolved(const std::vector<double>& image, int height, int width, int outputs) {
    const int inputs = static_cast<int>(image.size()) / (height * width);
    const double* weight = take(static_cast<std::size_t>(outputs) * 9 * static_cast<std::size_t>(inputs));
    const double* bias = take(static_cast<std::size_t>(outputs));
    const auto at = [&](int row, int column, int output) {
      double sum = bias[output];
      for (int k = 0; k < 9 * inputs; ++k) {
        const int y = row + k / inputs / 3 - 1;
        const int x = column + k / inputs % 3 - 1;
        if (y < 0 || y >= height || x < 0 || x >= width) continue;
        sum += weight[k * outputs + output] *
               image[static_cast<std::size_t>((y * width + x) * inputs + k % inputs)];
      }
      return sum;
    };
    std::vector<double> result;
    for (int y = 0; y + 1 < height; y += 2)
      for (int x = 0; x + 1 < width; x += 2)
        for (int output = 0; output < outputs; ++output)
          result.push_back(std::max(
              {0.0, at(y, x, output), at(y, x + 1, output), at(y + 1, x, output), at(y + 1, x + 1, output)}));
    return result;
  }

  ModelShape shape_;
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> input_;
  Kokkos::View<int*, Kokkos::LayoutRight, Kokkos::HostSpace> labels_;
  std::vector<double> parameters_;
  std::size_t next_ = 0;
};

TEST(Model, ConvolutionsGradientsAreTheLossesDifferences) {
  Sample sample(images());
  const auto gradient = sample.gradient({0, samples});
  ImageLoss reference(sample);
  ASSERT_EQ(gradient.size(), reference.count());
  EXPECT_NEAR(sample.loss(), reference.loss(), 1e-5);
  double largest = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(gradient[i], reference.difference(i), 1e-4) << "parameter " << i;
    largest = std::max(largest, std::abs(static_cast<double>(gradient[i])));
  }
  EXPECT_GT(largest, 0.5);
}

TEST(Model, ConvolutionsOfARangeDontDependOnItsPlace) {
  Sample sample(images());
  const auto whole = sample.gradient({0, samples});
  const auto first = sample.gradient({0, 4});
  const auto second = sample.gradient({4, samples});
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], first[i] + second[i], 2e-5) << i;
}

TEST(Model, NamesTheConvolutionThatIsNotFinite) {
  Sample sample(images());
  sample.set_parameter(static_cast<std::size_t>(sample.model.tensors()[2].begin),
                       std::numeric_limits<float>::infinity());
  sample.run();
  ASSERT_EQ(sample.marked(StepFigures::unusable_layer), 1);
  EXPECT_EQ(sample.model.name_of(1), "conv2");
}

TEST(Model, WhatIsNoImageIsRefused) {
  using app::testing_support::error_message;
  const auto make = [](int inputs, std::array<int, 2> image, std::size_t convolutions) {
    const Model model(
        make_instance(),
        {.inputs = inputs, .image = image, .channels = std::vector<int>(convolutions, 2), .classes = 2}, 1);
  };
  EXPECT_NE(error_message(ErrorKind::input,
                          [&] {
                            make(10, {3, 3}, 1);
                          })
                .find("10 features are no images of 3 x 3"),
            std::string::npos);
  EXPECT_NE(error_message(ErrorKind::input,
                          [&] {
                            make(10, {0, 0}, 1);
                          })
                .find("set model.image"),
            std::string::npos);
  EXPECT_NE(error_message(ErrorKind::input,
                          [&] {
                            make(9, {3, 3}, 2);
                          })
                .find("too small for 2 convolutions"),
            std::string::npos);
}

TEST(Model, ARangesGradientsAreTheSumOfItsParts) {
  Sample sample;
  const auto whole = sample.gradient({0, samples});
  const auto first = sample.gradient({0, 4});
  const auto second = sample.gradient({4, samples});
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], first[i] + second[i], 2e-5) << i;
}

TEST(Model, ARangesBitsDontDependOnItsPlace) {
  Sample sample;
  const auto at_8 = sample.gradient({8, 11});
  const auto input = on_the_host(sample.model.input());
  const auto labels = on_the_host(sample.labels);
  for (int slot = 0; slot < 3; ++slot) {
    for (int j = 0; j < sample.shape.inputs; ++j) input(slot + 4, j) = input(slot + 8, j);
    labels(slot + 4) = labels(slot + 8);
  }
  Kokkos::deep_copy(sample.model.input(), input);
  Kokkos::deep_copy(sample.labels, labels);
  EXPECT_EQ(sample.gradient({4, 7}), at_8);
}

TEST(Model, TheLossIsTheCrossEntropy) {
  Sample sample;
  Kokkos::deep_copy(sample.model.parameters(), 0.0F);
  // Every class is as likely.
  EXPECT_NEAR(sample.loss(), samples * std::log(3.0), 1e-5);
}

TEST(Model, TheLossOfManyClassesIsTheCrossEntropy) {
  constexpr int classes = 1000;
  Sample sample({.inputs = 3, .classes = classes});
  Kokkos::deep_copy(sample.model.parameters(), 0.0F);
  EXPECT_NEAR(sample.loss(), samples * std::log(static_cast<double>(classes)), 1e-4);
  // Of logits that are all alike the first is taken.
  const auto labels = on_the_host(sample.labels);
  EXPECT_EQ(sample.figure(StepFigures::correct), std::count(labels.data(), labels.data() + samples, 0));
}

TEST(Model, TensorsFollowEachOtherByLayer) {
  const Sample sample;
  const auto& tensors = sample.model.tensors();
  ASSERT_EQ(tensors.size(), 6u);
  EXPECT_EQ(tensors[2].name, "dense2.weight");
  // Each from a multiple of four elements.
  EXPECT_EQ(tensors[1].begin, 36);
  EXPECT_EQ(tensors[2].begin, 44);
  EXPECT_EQ(tensors[2].count, 4 * 7);
  EXPECT_EQ(sample.model.parameter_count(), 7 * 5 + 7 + 4 * 7 + 4 + 3 * 4 + 3);
  EXPECT_EQ(tensors[5].begin + tensors[5].count,
            static_cast<std::int64_t>(sample.model.parameters().extent(0)));
}

TEST(Model, FirstWeightsFillTheirRangeAndDependOnTheSeed) {
  const Model model(make_instance(), {.inputs = 400, .classes = 10}, 1);
  model.draw_parameters(1);
  const auto first = on_the_host(Kokkos::subview(model.parameters(), std::pair(0, 4000)));
  float largest = 0;
  for (std::size_t i = 0; i < 4000; ++i) largest = std::max(largest, std::abs(first(i)));
  EXPECT_LE(largest, 0.05F);
  EXPECT_GT(largest, 0.049F);
  const float drawn = first(0);
  model.draw_parameters(2);
  EXPECT_NE(on_the_host(model.parameters())(0), drawn);
}

TEST(Model, FirstWeightsAreDrawnUnitByUnit) {
  const Sample sample;
  const auto parameters = on_the_host(sample.model.parameters());
  for (const std::size_t t : {0u, 2u}) {
    const Tensor& weight = sample.model.tensors()[t];
    const int inputs = t == 0 ? 5 : 7;
    const int units = t == 0 ? 7 : 4;
    Random random(1, ~std::uint64_t{t});
    const float bound = 1 / std::sqrt(static_cast<float>(inputs));
    for (int unit = 0; unit < units; ++unit)
      for (int input = 0; input < inputs; ++input)
        EXPECT_EQ(parameters(static_cast<std::size_t>(weight.begin + input * units + unit)),
                  bound * (2 * random.uniform() - 1))
            << weight.name << ' ' << unit << ' ' << input;
  }
}

TEST(Model, NamesTheFirstLayerThatIsNotFinite) {
  Sample sample;
  sample.run();
  EXPECT_FALSE(sample.marked(StepFigures::unusable_layer));
  sample.set_parameter(static_cast<std::size_t>(sample.model.tensors()[2].begin),
                       std::numeric_limits<float>::quiet_NaN());
  sample.run();
  EXPECT_EQ(sample.figure(StepFigures::unusable_samples), samples);
  ASSERT_EQ(sample.marked(StepFigures::unusable_layer), 1);
  EXPECT_EQ(sample.model.name_of(1), "dense2");
}

}  // namespace
}  // namespace selvage::sgd
