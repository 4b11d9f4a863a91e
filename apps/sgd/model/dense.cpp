#include "sgd/model/dense.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace selvage::sgd {
namespace {

/// With ReLU.
struct AddBias {
  Matrix<float> output;
  const float* bias;
  StepFigures figures;
  int layer;

  KOKKOS_FUNCTION void operator()(const int i) const {
    const float value = output.data()[i] + bias[i % output.extent_int(1)];
    if (!Kokkos::isfinite(value)) figures.mark(StepFigures::unusable_layer, layer);
    // Not fmax, which makes NaN 0 and so hides it.
    output.data()[i] = value < 0 ? 0 : value;
  }
};

Layer::Shape described(const DenseShape& shape) {
  return {.name = fmt::format("dense{}", shape.ordinal),
          .number = shape.number,
          .outputs = shape.outputs,
          .fan_in = shape.inputs,
          .units = shape.outputs};
}

}  // namespace

Dense::Dense(const LayerShare& share, const DenseShape& shape)
    : Layer(share, described(shape), std::max(shape.inputs, shape.outputs)),
      is_last_(shape.is_last),
      column_sums_(share.space, share.samples, shape.outputs) {}

void Dense::forward(const Matrix<float>& input, SampleRange range, const StepFigures& figures) {
  share().products.multiply(rows_of(input, range), weights(Form::as_is),
                            output().data() + range.begin * shape().outputs);
  if (is_last_) return;
  Kokkos::parallel_for("sgd::bias", elements_of(share().space, range, shape().outputs),
                       AddBias{output(), bias(), figures, shape().number});
}

void Dense::through_activation(SampleRange range, float* bias) {
  const std::int64_t first = range.begin * shape().outputs;
  if (is_last_) return column_sums_.add_up(output_error().data() + first, range.size(), bias);
  column_sums_.mask_and_add_up(output_error().data() + first, output().data() + first, range.size(), bias);
}

void Dense::weight_gradient(const Matrix<float>& input, SampleRange range, RowRange rows, float* weight) {
  share().products.multiply(inputs_of(input, range, 1, rows), rows_of(output_error(), range), weight);
}

void Dense::propagate(SampleRange range, const Matrix<float>& input_error) {
  share().products.multiply(rows_of(output_error(), range), weights(Form::transposed),
                            input_error.data() + range.begin * shape().fan_in);
}

}  // namespace selvage::sgd
