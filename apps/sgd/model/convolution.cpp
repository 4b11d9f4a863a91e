#include "sgd/model/convolution.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace selvage::sgd {
namespace {

/// A thread per pixel and input channel, which writes it for the nine pixels around.
struct WritePatches {
  ConvolutionShape shape;
  Matrix<float> input;
  Matrix<float> patches;

  KOKKOS_FUNCTION void operator()(const int i) const {
    const int channel = i % shape.input_channels;
    const int pixel = i / shape.input_channels;
    const int sample = pixel / shape.pixels();
    const int in_image = pixel % shape.pixels();
    for (int neighbour = 0; neighbour < 9; ++neighbour) {
      const int row = in_image / shape.width + neighbour / 3 - 1;
      const int column = in_image % shape.width + neighbour % 3 - 1;
      // Where the patch reaches over the image's edge there are zeros.
      const bool is_inside = row >= 0 && row < shape.height && column >= 0 && column < shape.width;
      const int feature = (row * shape.width + column) * shape.input_channels + channel;
      patches(pixel, neighbour * shape.input_channels + channel) = is_inside ? input(sample, feature) : 0;
    }
  }
};

/// The derivative by an input pixel: the sum over the patches that it is in.
struct GatherPatches {
  ConvolutionShape shape;
  Matrix<float> patches;
  Matrix<float> input_error;

  KOKKOS_FUNCTION void operator()(const int i) const {
    const int channel = i % shape.input_channels;
    const int pixel = i / shape.input_channels;
    const int in_image = pixel % shape.pixels();
    float sum = 0;
    for (int neighbour = 0; neighbour < 9; ++neighbour) {
      const int down = 1 - neighbour / 3;
      const int right = 1 - neighbour % 3;
      const int row = in_image / shape.width + down;
      const int column = in_image % shape.width + right;
      if (row < 0 || row >= shape.height || column < 0 || column >= shape.width) continue;
      sum += patches(pixel + down * shape.width + right, neighbour * shape.input_channels + channel);
    }
    input_error.data()[i] = sum;
  }
};

/// A 2 x 2 window of one channel; where an image's side is odd, the last ones are cut off and not pooled.
struct Window {
  int sample;
  int row;  ///< of windows
  int column;
  int channel;

  /// \param i  counted over samples, windows and channels, of images rounded up to whole windows
  KOKKOS_FUNCTION Window(const ConvolutionShape& shape, int i) {
    const int columns = (shape.width + 1) / 2;
    const int rows = (shape.height + 1) / 2;
    channel = i % shape.output_channels;
    i /= shape.output_channels;
    column = i % columns;
    row = i / columns % rows;
    sample = i / columns / rows;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_whole(const ConvolutionShape& shape) const {
    return row < shape.pooled_height() && column < shape.pooled_width();
  }
  [[nodiscard]] KOKKOS_FUNCTION int output(const ConvolutionShape& shape) const {
    return (row * shape.pooled_width() + column) * shape.output_channels + channel;
  }
  /// \param corner  0 to 3  \return -1 outside of the image
  [[nodiscard]] KOKKOS_FUNCTION int pixel(const ConvolutionShape& shape, int corner) const {
    const int down = 2 * row + corner / 2;
    const int right = 2 * column + corner % 2;
    if (down >= shape.height || right >= shape.width) return -1;
    return sample * shape.pixels() + down * shape.width + right;
  }
};

struct Pool {
  ConvolutionShape shape;
  Matrix<float> planes;
  const float* bias;
  Matrix<float> output;
  StepFigures figures;

  KOKKOS_FUNCTION void operator()(const int i) const {
    const Window window(shape, i);
    if (!window.is_whole(shape)) return;
    float most = planes(window.pixel(shape, 0), window.channel);
    float sum = most;
    for (int corner = 1; corner < 4; ++corner) {
      const float value = planes(window.pixel(shape, corner), window.channel);
      sum += value;
      if (value > most) most = value;
    }
    const float value = most + bias[window.channel];
    // The sum shows what the largest may hide.
    if (!Kokkos::isfinite(sum) || !Kokkos::isfinite(value))
      figures.mark(StepFigures::unusable_layer, shape.number);
    output(window.sample, window.output(shape)) = value < 0 ? 0 : value;
  }
};

struct ThroughPool {
  ConvolutionShape shape;
  Matrix<float> planes;  ///< values, which their derivatives replace
  Matrix<float> output;
  Matrix<float> output_error;

  KOKKOS_FUNCTION void operator()(const int i) const {
    const Window window(shape, i);
    int best = -1;
    float error = 0;
    if (window.is_whole(shape) && output(window.sample, window.output(shape)) > 0) {
      best = 0;
      error = output_error(window.sample, window.output(shape));
      float most = planes(window.pixel(shape, 0), window.channel);
      for (int corner = 1; corner < 4; ++corner) {
        const float value = planes(window.pixel(shape, corner), window.channel);
        if (!(value > most)) continue;
        most = value;
        best = corner;
      }
    }
    for (int corner = 0; corner < 4; ++corner) {
      const int pixel = window.pixel(shape, corner);
      if (pixel >= 0) planes(pixel, window.channel) = corner == best ? error : 0;
    }
  }
};

int windows_of_sample(const ConvolutionShape& shape) {
  return (shape.height + 1) / 2 * ((shape.width + 1) / 2) * shape.output_channels;
}

std::int64_t largest_of_sample(const ConvolutionShape& shape) {
  return std::int64_t{shape.pixels()} * std::max(9 * shape.input_channels, shape.output_channels);
}

Layer::Shape described(const ConvolutionShape& shape) {
  return {.name = fmt::format("conv{}", shape.ordinal),
          .number = shape.number,
          .outputs = shape.outputs(),
          .fan_in = 9 * shape.input_channels,
          .units = shape.output_channels};
}

}  // namespace

Convolution::Convolution(const LayerShare& share, const ConvolutionShape& shape)
    : Layer(share, described(shape), largest_of_sample(shape)),
      conv_(shape),
      patches_("sgd: patches", share.samples * shape.pixels(), 9 * shape.input_channels),
      planes_("sgd: planes", share.samples * shape.pixels(), shape.output_channels),
      column_sums_(share.space, share.samples * shape.pixels(), shape.output_channels) {}

void Convolution::forward(const Matrix<float>& input, SampleRange range, const StepFigures& figures) {
  const std::int64_t first_pixel = range.begin * conv_.pixels();
  Kokkos::parallel_for("sgd::patches",
                       elements_of(share().space, range, conv_.pixels() * conv_.input_channels),
                       WritePatches{conv_, input, patches_});
  share().products.multiply(rows_of(patches_, range, conv_.pixels()), weights(Form::as_is),
                            planes_.data() + first_pixel * conv_.output_channels);
  Kokkos::parallel_for("sgd::pool", elements_of(share().space, range, windows_of_sample(conv_)),
                       Pool{conv_, planes_, bias(), output(), figures});
}

void Convolution::through_activation(SampleRange range, float* bias) {
  Kokkos::parallel_for("sgd::through_pool", elements_of(share().space, range, windows_of_sample(conv_)),
                       ThroughPool{conv_, planes_, output(), output_error()});
  column_sums_.add_up(planes_.data() + range.begin * conv_.pixels() * conv_.output_channels,
                      range.size() * conv_.pixels(), bias);
}

void Convolution::weight_gradient(const Matrix<float>& /*input*/, SampleRange range, RowRange rows,
                                  float* weight) {
  share().products.multiply(inputs_of(patches_, range, conv_.pixels(), rows),
                            rows_of(planes_, range, conv_.pixels()), weight);
}

void Convolution::propagate(SampleRange range, const Matrix<float>& input_error) {
  share().products.multiply(rows_of(planes_, range, conv_.pixels()), weights(Form::transposed),
                            patches_.data() + range.begin * conv_.pixels() * patches_.extent_int(1));
  Kokkos::parallel_for("sgd::gather_patches",
                       elements_of(share().space, range, conv_.pixels() * conv_.input_channels),
                       GatherPatches{conv_, patches_, input_error});
}

}  // namespace selvage::sgd
