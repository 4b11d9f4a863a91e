#pragma once

#include "sgd/model/column_sums.hpp"
#include "sgd/model/layer.hpp"

namespace selvage::sgd {

struct ConvolutionShape {
  int number;   ///< in the model, from 0
  int ordinal;  ///< among convolutions, from 1
  int height;   ///< of the input's images, which the convolution keeps
  int width;
  int input_channels;
  int output_channels;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION int pixels() const { return height * width; }
  /// Of the pooled images: what is left of a side below 2 pixels is left out.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int pooled_height() const { return height / 2; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int pooled_width() const { return width / 2; }
  [[nodiscard]] int outputs() const { return pooled_height() * pooled_width() * output_channels; }
};

/// A convolution of 3 x 3 pixels with zeros around the image, ReLU, and the largest of each 2 x 2 pixels. Images have
/// their channels next to each other: rows x columns x channels. The weight is 3 x 3 x input channels x output channels.
///
/// The pixels around each one are written out as a row of a matrix, so that convolution and gradients are products, for
/// nine times the memory of the input.
///
/// Source: Chellapilla, Puri, Simard: High Performance Convolutional Neural Networks for Document Processing (2006).
class Convolution final : public Layer {
 public:
  Convolution(const LayerShare& share, const ConvolutionShape& shape);

  void forward(const Matrix<float>& input, SampleRange range, const StepFigures& figures) override;
  void through_activation(SampleRange range, float* bias) override;
  void weight_gradient(const Matrix<float>& input, SampleRange range, RowRange rows, float* weight) override;
  void propagate(SampleRange range, const Matrix<float>& input_error) override;

 private:
  ConvolutionShape conv_;
  Matrix<float> patches_;  ///< pixels x (3 x 3 x input channels); propagate() puts their derivatives there
  Matrix<float> planes_;   ///< pixels x output channels; through_activation() puts their derivatives there
  ColumnSums column_sums_;
};

}  // namespace selvage::sgd
