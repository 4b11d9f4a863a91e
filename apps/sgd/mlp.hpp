#pragma once

#include "sgd/data_order.hpp"
#include "sgd/space.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace selvage::sgd {

/// A tensor's place in a model's one list of parameters, and in lists that go with it, as of gradients.
struct Tensor {
  std::string name;  ///< "dense1.weight"
  std::int64_t begin;
  std::int64_t count;
  int fan_in;  ///< of the layer that it belongs to
};

/// A perceptron: dense layers, ReLU between them, cross-entropy of a softmax after the last.
///
/// All work is enqueued on, or done by, the instance that each call is given. A call concerns a range of the samples, by
/// their place on this rank; ranges that were computed one by one, or by another rank, give the same bits as long as
/// they are as long.
class Mlp {
 public:
  /// \param widths   of the input and of every layer's output, at least two, each positive
  /// \param samples  the most that a range may reach to
  Mlp(std::vector<int> widths, std::int64_t samples);

  /// By layer, weight before bias. A weight is outputs x inputs, row-major.
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] int layers() const { return static_cast<int>(widths_.size()) - 1; }
  /// The layer's first tensor; its bias is the next one.
  [[nodiscard]] static std::size_t weight_of(int layer) { return static_cast<std::size_t>(layer) * 2; }
  [[nodiscard]] static std::string name_of(int layer);

  /// All tensors, one after the other.
  [[nodiscard]] Vector<float> parameters() const { return parameters_; }
  /// Inputs by sample, to be filled before forward().
  [[nodiscard]] Matrix<float> input() const { return outputs_.front(); }

  /// Draws every parameter uniformly from +-1/sqrt(inputs of its layer): the same on every rank.
  void draw_parameters(std::int64_t seed) const;

  /// From the inputs to the last layer's outputs.
  void forward(const Space& space, SampleRange range) const;

  /// The sum of the losses of a range, and how many of its samples are recognised; ready for backward.
  struct Score {
    std::int64_t loss = 0;  ///< in fixed_point units, the sum of what fits
    std::int64_t correct = 0;
    std::int64_t unusable = 0;  ///< samples whose loss is NaN, infinite or too large
  };
  /// \param labels  by sample on this rank
  [[nodiscard]] Score score(const Space& space, SampleRange range, const Vector<int>& labels) const;

  /// The gradient of a range's summed loss by one layer's weight and bias, overwritten.
  /// \param gradients  of all tensors
  void gradients(const Space& space, int layer, SampleRange range, const Vector<float>& gradients) const;
  /// From the layer's output to its input, which is the output of the layer before. \param layer  not the first
  void propagate(const Space& space, int layer, SampleRange range) const;

  /// The first layer that gave NaN or infinity for a sample of the range.
  [[nodiscard]] std::optional<int> first_unusable_layer(const Space& space, SampleRange range) const;

 private:
  [[nodiscard]] int width(int level) const { return widths_[static_cast<std::size_t>(level)]; }
  /// Level 0 is the input, level l the output of layer l - 1.
  [[nodiscard]] const Matrix<float>& output(int level) const {
    return outputs_[static_cast<std::size_t>(level)];
  }
  [[nodiscard]] const Matrix<float>& error(int level) const {
    return errors_[static_cast<std::size_t>(level)];
  }
  [[nodiscard]] const float* parameter(std::size_t tensor) const {
    return parameters_.data() + tensors_[tensor].begin;
  }

  std::vector<int> widths_;
  std::vector<Tensor> tensors_;
  Vector<float> parameters_;
  std::vector<Matrix<float>> outputs_;  ///< by level: samples x width
  std::vector<Matrix<float>>
      errors_;  ///< the loss's derivatives by the outputs before ReLU; level 0 is empty
};

}  // namespace selvage::sgd
