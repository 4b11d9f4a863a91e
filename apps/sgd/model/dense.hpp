#pragma once

#include "sgd/model/column_sums.hpp"
#include "sgd/model/layer.hpp"

namespace selvage::sgd {

struct DenseShape {
  int number;   ///< in the model, from 0
  int ordinal;  ///< among dense layers, from 1
  int inputs;
  int outputs;
  bool is_last;  ///< of the model: no ReLU follows, and the loss adds the bias
};

/// A dense layer. Its weight is inputs x outputs.
class Dense final : public Layer {
 public:
  Dense(const LayerShare& share, const DenseShape& shape);

  void forward(const Matrix<float>& input, SampleRange range, const StepFigures& figures) override;
  void through_activation(SampleRange range, float* bias) override;
  void weight_gradient(const Matrix<float>& input, SampleRange range, RowRange rows, float* weight) override;
  void propagate(SampleRange range, const Matrix<float>& input_error) override;

 private:
  bool is_last_;
  ColumnSums column_sums_;
};

}  // namespace selvage::sgd
