#pragma once

#include "sgd/column_sums.hpp"
#include "sgd/layer.hpp"

namespace selvage::sgd {

struct DenseShape {
  int number;   ///< in the model, from 0
  int ordinal;  ///< among dense layers, from 1
  int inputs;
  int outputs;
  bool rectifies;  ///< ReLU follows
};

/// A dense layer. Its weight is outputs x inputs, row-major.
class Dense final : public Layer {
 public:
  Dense(const LayerShare& share, const DenseShape& shape);

  void forward(const Matrix<float>& input, SampleRange range, const StepFigures& figures) override;
  void through_activation(SampleRange range) override;
  void gradients(const Matrix<float>& input, SampleRange range, float* weight, float* bias) override;
  void propagate(SampleRange range, const Matrix<float>& input_error) override;

 private:
  [[nodiscard]] Factor weights(Form form) const;

  int inputs_;
  bool rectifies_;
  ColumnSums column_sums_;
};

}  // namespace selvage::sgd
