#pragma once

#include "sgd/cli/settings.hpp"
#include "sgd/io/data_order.hpp"
#include "sgd/io/data_set.hpp"
#include "sgd/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace selvage::sgd::testing_support {

/// Momentum SGD of a perceptron as textbooks have it, on one rank and in fp64: what a Trainer's weights are compared with. Of
/// apps/sgd it takes the places of tensors, the first weights and the order of samples alone.
class SerialTraining {
 public:
  SerialTraining(const Settings& settings, const Samples& samples, const std::vector<int>& widths,
                 const std::vector<Tensor>& tensors, const std::vector<float>& first)
      : settings_(settings),
        samples_(samples),
        widths_(widths),
        tensors_(tensors),
        weights_(first.begin(), first.end()),
        velocities_(first.size()) {}

  void step() {
    const std::int64_t steps_per_epoch = samples_.count() / settings_.batch;
    const auto order = order_of_epoch(samples_.count(), settings_.seed, done_ / steps_per_epoch);
    std::vector<double> gradient(weights_.size());
    for (std::int64_t i = 0; i < settings_.batch; ++i) {
      const std::int64_t place = done_ % steps_per_epoch * settings_.batch + i;
      add_gradient(order[static_cast<std::size_t>(place)], gradient);
    }
    const double rate = rate_of(done_, settings_.epochs * steps_per_epoch);
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double mean = gradient[i] / static_cast<double>(settings_.batch);
      velocities_[i] = settings_.momentum * velocities_[i] + mean + settings_.weight_decay * weights_[i];
      weights_[i] -= rate * velocities_[i];
    }
    ++done_;
  }

  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  [[nodiscard]] const std::vector<double>& velocities() const { return velocities_; }

 private:
  [[nodiscard]] double rate_of(std::int64_t step, std::int64_t steps) const {
    const auto real = [](std::int64_t count) { return static_cast<double>(count); };
    const std::int64_t warm = settings_.warmup_steps;
    if (step < warm) return settings_.rate * real(step + 1) / real(warm);
    return settings_.rate * (1 + std::cos(std::numbers::pi * real(step - warm) / real(steps - warm))) / 2;
  }

  [[nodiscard]] std::size_t weight_at(std::size_t layer, int input, int unit) const {
    return static_cast<std::size_t>(tensors_[2 * layer].begin + std::int64_t{input} * widths_[layer + 1] +
                                    unit);
  }
  [[nodiscard]] std::size_t bias_at(std::size_t layer, int unit) const {
    return static_cast<std::size_t>(tensors_[2 * layer + 1].begin + unit);
  }

  [[nodiscard]] std::vector<double> forward(std::size_t layer, const std::vector<double>& inputs) const {
    std::vector<double> outputs;
    for (int unit = 0; unit < widths_[layer + 1]; ++unit) {
      double sum = weights_[bias_at(layer, unit)];
      for (int i = 0; i < widths_[layer]; ++i)
        sum += inputs[static_cast<std::size_t>(i)] * weights_[weight_at(layer, i, unit)];
      const bool is_last = layer + 2 == widths_.size();
      outputs.push_back(is_last ? sum : std::max(sum, 0.0));
    }
    return outputs;
  }

  /// Of the cross-entropy of a softmax, by the last layer's outputs.
  [[nodiscard]] std::vector<double> loss_errors(const std::vector<double>& outputs, int label) const {
    std::vector<double> errors;
    double sum = 0;
    for (const double output : outputs) sum += std::exp(output);
    for (const double output : outputs) errors.push_back(std::exp(output) / sum);
    errors[static_cast<std::size_t>(label)] -= 1;
    return errors;
  }

  void add_gradient(std::int64_t sample, std::vector<double>& gradient) const {
    const auto first = samples_.features.begin() + sample * widths_.front();
    std::vector<std::vector<double>> values{{first, first + widths_.front()}};
    for (std::size_t layer = 0; layer + 1 < widths_.size(); ++layer)
      values.push_back(forward(layer, values.back()));
    auto errors = loss_errors(values.back(), samples_.labels[static_cast<std::size_t>(sample)]);
    for (std::size_t layer = widths_.size() - 1; layer-- > 0;) {
      std::vector<double> before(values[layer].size());
      for (int unit = 0; unit < widths_[layer + 1]; ++unit) {
        const double error = errors[static_cast<std::size_t>(unit)];
        gradient[bias_at(layer, unit)] += error;
        for (int i = 0; i < widths_[layer]; ++i) {
          const double input = values[layer][static_cast<std::size_t>(i)];
          gradient[weight_at(layer, i, unit)] += error * input;
          if (input > 0) before[static_cast<std::size_t>(i)] += error * weights_[weight_at(layer, i, unit)];
        }
      }
      errors = before;
    }
  }

  Settings settings_;
  Samples samples_;
  std::vector<int> widths_;  ///< of the inputs, and of each layer's outputs
  std::vector<Tensor> tensors_;
  std::vector<double> weights_;
  std::vector<double> velocities_;
  std::int64_t done_ = 0;
};

}  // namespace selvage::sgd::testing_support
