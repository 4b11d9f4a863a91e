#include "sgd/model/model.hpp"

#include "sgd/model/convolution.hpp"
#include "sgd/model/cross_entropy.hpp"
#include "sgd/model/dense.hpp"
#include "sgd/model/random.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <cmath>

namespace selvage::sgd {

Model::Model(const Space& space, const ModelShape& shape, std::int64_t samples, ProductChoice choice)
    : space_(space), input_("sgd: inputs", samples, shape.inputs) {
  const LayerShare share{.space = space, .products = MatrixProducts(space, choice), .samples = samples};
  if (!shape.channels.empty()) make_convolutions(shape, share);
  make_dense_layers(shape, share);
  place_tensors();
}

void Model::make_convolutions(const ModelShape& shape, const LayerShare& share) {
  auto [height, width] = shape.image;
  if (height < 1 || width < 1 || shape.inputs % (height * width) != 0) {
    throw Error(ErrorKind::input,
                fmt::format("samples of {} features are no images of {} x {} pixels: set model.image",
                            shape.inputs, height, width));
  }
  int channels = shape.inputs / (height * width);
  for (const int outputs : shape.channels) {
    const ConvolutionShape convolution{.number = layers(),
                                       .ordinal = layers() + 1,
                                       .height = height,
                                       .width = width,
                                       .input_channels = channels,
                                       .output_channels = outputs};
    if (height < 2 || width < 2) {
      throw Error(ErrorKind::input, fmt::format("images of {} x {} pixels are too small for {} convolutions",
                                                shape.image[0], shape.image[1], shape.channels.size()));
    }
    layers_.push_back(std::make_unique<Convolution>(share, convolution));
    height = convolution.pooled_height();
    width = convolution.pooled_width();
    channels = outputs;
  }
}

void Model::make_dense_layers(const ModelShape& shape, const LayerShare& share) {
  std::vector<int> widths = shape.hidden;
  widths.push_back(shape.classes);
  int inputs = layers_.empty() ? shape.inputs : layers_.back()->shape().outputs;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const DenseShape dense{.number = layers(),
                           .ordinal = static_cast<int>(i) + 1,
                           .inputs = inputs,
                           .outputs = widths[i],
                           .is_last = i + 1 == widths.size()};
    layers_.push_back(std::make_unique<Dense>(share, dense));
    inputs = widths[i];
  }
}

void Model::place_tensors() {
  constexpr std::int64_t elements_of_16_bytes = 4;
  std::int64_t end = 0;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& extent,
                       std::int64_t elements) {
    const std::int64_t begin = (end + elements_of_16_bytes - 1) / elements_of_16_bytes * elements_of_16_bytes;
    tensors_.push_back({name, begin, extent, elements});
    end = begin + elements;
  };
  for (const auto& layer : layers_) {
    const Layer::Shape& shape = layer->shape();
    add(shape.name + ".weight", {shape.fan_in, shape.units}, shape.weight_count());
    add(shape.name + ".bias", {shape.units}, shape.units);
  }
  parameters_ = Vector<float>("sgd: parameters", static_cast<std::size_t>(end));
  for (int layer = 0; layer < layers(); ++layer) {
    const std::size_t weight = weight_of(layer);
    at(layer).use(parameters_.data() + tensors_[weight].begin,
                  parameters_.data() + tensors_[weight + 1].begin);
  }
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const Tensor& tensor : tensors_) count += tensor.count;
  return count;
}

void Model::draw_parameters(std::int64_t seed) const {
  const auto drawn = Kokkos::create_mirror_view(Kokkos::HostSpace(), parameters_);
  Kokkos::deep_copy(drawn, 0);
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const Tensor& tensor = tensors_[t];
    const Layer::Shape& shape = at(static_cast<int>(t / 2)).shape();
    // Streams of epochs count from 0, so these count from the other end.
    Random random(static_cast<std::uint64_t>(seed), ~static_cast<std::uint64_t>(t));
    const float bound = 1 / std::sqrt(static_cast<float>(shape.fan_in));
    const std::int64_t of_unit = tensor.count / shape.units;
    for (std::int64_t unit = 0; unit < shape.units; ++unit)
      for (std::int64_t i = 0; i < of_unit; ++i)
        drawn(tensor.begin + i * shape.units + unit) = bound * (2 * random.uniform() - 1);
  }
  Kokkos::deep_copy(space_, parameters_, drawn);
  space_.fence("sgd: parameters drawn");
}

void Model::forward(SampleRange range, const StepFigures& figures) const {
  for (int layer = 0; layer < layers(); ++layer) at(layer).forward(input_of(layer), range, figures);
}

void Model::score(SampleRange range, const Vector<int>& labels, const StepFigures& figures) const {
  const Layer& last = at(layers() - 1);
  cross_entropy(space_, range, {last.output(), last.bias(), labels, last.output_error(), layers() - 1},
                figures);
}

void Model::bias_gradient(int layer, SampleRange range, const Vector<float>& gradients) const {
  at(layer).through_activation(range, gradients.data() + tensors_[weight_of(layer) + 1].begin);
}

void Model::weight_gradient(int layer, SampleRange range, RowRange rows,
                            const Vector<float>& gradients) const {
  const std::int64_t first = std::int64_t{rows.begin} * units_of(layer);
  at(layer).weight_gradient(input_of(layer), range, rows,
                            gradients.data() + tensors_[weight_of(layer)].begin + first);
}

void Model::propagate(int layer, SampleRange range) const {
  at(layer).propagate(range, at(layer - 1).output_error());
}

}  // namespace selvage::sgd
