#pragma once

#include "sgd/model/layer.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::sgd {

/// A tensor's place in a model's one list of parameters, and in lists that go with it, as of gradients.
struct Tensor {
  std::string name;  ///< "dense1.weight"
  std::int64_t begin;
  std::vector<std::int64_t> extent;  ///< as in a file of weights
  std::int64_t count;                ///< elements of all
};

struct ModelShape {
  int inputs;                      ///< features of a sample
  std::array<int, 2> image = {};   ///< height and width of a sample, for convolutions
  std::vector<int> channels = {};  ///< of convolutions' outputs; these come first, see Convolution
  std::vector<int> hidden = {};    ///< widths of dense layers with ReLU
  int classes;                     ///< outputs of the last layer
};

/// Layers one after the other, ReLU between them, cross-entropy of a softmax after the last.
///
/// All work is enqueued on, or done by, one instance. What ranges of samples are, and when they give the same bits, see
/// Layer.
class Model {
 public:
  /// \param samples  the most that a range may reach to
  /// \param choice   of products' algorithms
  /// \throws Error{input} for inputs that are no images where there are convolutions, or images too small to be pooled
  Model(const Space& space, const ModelShape& shape, std::int64_t samples,
        ProductChoice choice = ProductChoice::fixed);

  /// By layer, weight before bias.
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] int layers() const { return static_cast<int>(layers_.size()); }
  /// The layer's first tensor; its bias is the next one.
  [[nodiscard]] static std::size_t weight_of(int layer) { return static_cast<std::size_t>(layer) * 2; }
  [[nodiscard]] const std::string& name_of(int layer) const { return at(layer).shape().name; }

  /// All tensors, one after the other, each from a multiple of 16 bytes: for products by 16 bytes at once. Up to three
  /// zeros before a tensor are no parameters, but are summed up and moved like them, and stay 0.
  [[nodiscard]] const Vector<float>& parameters() const { return parameters_; }
  [[nodiscard]] std::int64_t parameter_count() const;
  /// Inputs by sample, to be filled before forward().
  [[nodiscard]] const Matrix<float>& input() const { return input_; }

  /// Draws every parameter uniformly from +-1/sqrt(inputs of its layer), unit by unit: the same on every rank. Waits until
  /// done.
  void draw_parameters(std::int64_t seed) const;

  /// From the inputs to the last layer's outputs. \param figures  where what can't be used is marked
  void forward(SampleRange range, const StepFigures& figures) const;
  /// Adds the losses of a range, and how many of its samples are recognised, to the figures of the step, which ends it;
  /// ready for backward. \param labels  by sample on this rank
  void score(SampleRange range, const Vector<int>& labels, const StepFigures& figures) const;

  /// The gradient of a range's summed loss by one layer's bias, overwritten; comes before the next two.
  /// \param gradients  of all tensors
  void bias_gradient(int layer, SampleRange range, const Vector<float>& gradients) const;
  /// The same by some rows of its weight. \param gradients  of all tensors
  void weight_gradient(int layer, SampleRange range, RowRange rows, const Vector<float>& gradients) const;
  /// From the layer's output to that of the layer before; the layer's gradients by the range come before.
  /// \param layer  not the first
  void propagate(int layer, SampleRange range) const;

  /// All rows of a layer's weight.
  [[nodiscard]] RowRange rows_of(int layer) const { return {0, at(layer).shape().fan_in}; }
  /// Elements of each of them.
  [[nodiscard]] int units_of(int layer) const { return at(layer).shape().units; }

 private:
  [[nodiscard]] Layer& at(int layer) const { return *layers_[static_cast<std::size_t>(layer)]; }
  [[nodiscard]] const Matrix<float>& input_of(int layer) const {
    return layer == 0 ? input_ : at(layer - 1).output();
  }
  void make_convolutions(const ModelShape& shape, const LayerShare& share);
  void make_dense_layers(const ModelShape& shape, const LayerShare& share);
  void place_tensors();

  Space space_;
  Matrix<float> input_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<Tensor> tensors_;
  Vector<float> parameters_;
};

}  // namespace selvage::sgd
