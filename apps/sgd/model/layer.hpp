#pragma once

#include "sgd/io/data_order.hpp"
#include "sgd/model/matrix_product.hpp"
#include "sgd/model/space.hpp"
#include "sgd/step_figures.hpp"

#include <cstdint>
#include <string>

namespace selvage::sgd {

/// Rows [begin, end) of a layer's weight, each of them what one input gives to all units.
struct RowRange {
  int begin;
  int end;
  [[nodiscard]] int size() const { return end - begin; }
};

/// What layers of a model have in common.
struct LayerShare {
  Space space;
  MatrixProducts products;
  std::int64_t samples;  ///< the most that a range may reach to
};

/// A layer of a model, with a weight, a bias, and what it computes of each sample. The weight is inputs x units: of the
/// products only propagate()'s then adds up along rows of both factors, which cuBLAS is slowest at, and which the first
/// layer doesn't need. A call enqueues its work on the instance of the model and concerns a range of the samples, by their
/// place on this rank; ranges that were computed one by one, or by another rank, give the same bits as long as they are as
/// long and begin at a multiple of 4.
class Layer {
 public:
  struct Shape {
    std::string name;  ///< "dense1"
    int number;        ///< in the model, from 0
    int outputs;       ///< per sample
    int fan_in;        ///< inputs of a unit: rows of the weight
    int units;         ///< columns of the weight, elements of the bias

    [[nodiscard]] std::int64_t weight_count() const { return std::int64_t{fan_in} * units; }
  };

  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Samples x outputs.
  [[nodiscard]] const Matrix<float>& output() const { return output_; }
  /// The loss's derivatives by the output: filled by the layer above, or by the loss.
  [[nodiscard]] const Matrix<float>& output_error() const { return output_error_; }

  [[nodiscard]] const float* bias() const { return bias_; }

  /// Where its parameters lie: for as long as the layer.
  void use(const float* weight, const float* bias) {
    weight_ = weight;
    bias_ = bias;
  }

  /// \param input  samples x inputs; marks the layer in the step's figures where an output is NaN or infinite
  virtual void forward(const Matrix<float>& input, SampleRange range, const StepFigures& figures) = 0;
  /// From the derivatives by the output to those before the activation, and their sum, the gradient by the bias, which is
  /// overwritten: comes before the next two.
  virtual void through_activation(SampleRange range, float* bias) = 0;
  /// The gradient of a range's summed loss by some rows of the weight, overwritten. \param input  as in forward()
  /// \param weight  the first of the rows
  virtual void weight_gradient(const Matrix<float>& input, SampleRange range, RowRange rows,
                               float* weight) = 0;
  /// To the derivatives by the input; the range's weight_gradient() comes before. \param input_error  overwritten
  virtual void propagate(SampleRange range, const Matrix<float>& input_error) = 0;

 protected:
  /// \param largest  elements per sample of any matrix that the layer works with
  /// \throws Error{input} for more than 2^31 elements of all samples
  Layer(const LayerShare& share, Shape shape, std::int64_t largest);

  [[nodiscard]] const LayerShare& share() const { return share_; }
  [[nodiscard]] Factor weights(Form form) const { return {weight_, shape_.fan_in, shape_.units, form}; }

 private:
  LayerShare share_;
  Shape shape_;
  Matrix<float> output_;
  Matrix<float> output_error_;
  const float* weight_ = nullptr;
  const float* bias_ = nullptr;
};

/// The rows of a range, `per_sample` for each sample.
[[nodiscard]] inline Factor rows_of(const Matrix<float>& matrix, SampleRange range, int per_sample = 1,
                                    Form form = Form::as_is) {
  return {.data = matrix.data() + range.begin * per_sample * matrix.extent_int(1),
          .rows = static_cast<int>(range.size()) * per_sample,
          .columns = matrix.extent_int(1),
          .form = form};
}

/// The inputs of some rows of the weight, of which there are as many as columns of `inputs`: transposed.
[[nodiscard]] inline Factor inputs_of(const Matrix<float>& inputs, SampleRange range, int per_sample,
                                      RowRange rows) {
  Factor factor = rows_of(inputs, range, per_sample, Form::transposed);
  factor.data += rows.begin;
  factor.row_distance = factor.columns;
  factor.columns = rows.size();
  return factor;
}

/// Every element of a range's rows, counted through. They are fewer than 2^31, as Layer's constructor has seen: on GPUs
/// a division of 64 bits would take longer than what is done with the element.
[[nodiscard]] inline Kokkos::RangePolicy<Space, Kokkos::IndexType<int>> elements_of(const Space& space,
                                                                                    SampleRange range,
                                                                                    int per_sample) {
  return {space, static_cast<int>(range.begin) * per_sample, static_cast<int>(range.end) * per_sample};
}

}  // namespace selvage::sgd
