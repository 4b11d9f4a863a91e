#include "sgd/model.hpp"

#include "sgd/convolution.hpp"
#include "sgd/cross_entropy.hpp"
#include "sgd/dense.hpp"
#include "sgd/random.hpp"

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
  std::int64_t count = 0;
  const auto add = [&](const std::string& name, std::int64_t elements, int fan_in) {
    tensors_.push_back({name, count, elements, fan_in});
    count += elements;
  };
  for (const auto& layer : layers_) {
    const Layer::Shape& shape = layer->shape();
    add(shape.name + ".weight", shape.weight_count, shape.fan_in);
    add(shape.name + ".bias", shape.bias_count, shape.fan_in);
  }
  parameters_ = Vector<float>("sgd: parameters", static_cast<std::size_t>(count));
  for (int layer = 0; layer < layers(); ++layer) {
    const std::size_t weight = weight_of(layer);
    at(layer).use(parameters_.data() + tensors_[weight].begin,
                  parameters_.data() + tensors_[weight + 1].begin);
  }
}

void Model::draw_parameters(std::int64_t seed) const {
  const auto drawn = Kokkos::create_mirror_view(Kokkos::HostSpace(), parameters_);
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const Tensor& tensor = tensors_[t];
    // Streams of epochs count from 0, so these count from the other end.
    Random random(static_cast<std::uint64_t>(seed), ~static_cast<std::uint64_t>(t));
    const float bound = 1 / std::sqrt(static_cast<float>(tensor.fan_in));
    for (std::int64_t i = 0; i < tensor.count; ++i)
      drawn(tensor.begin + i) = bound * (2 * random.uniform() - 1);
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

void Model::weight_gradient(int layer, SampleRange range, UnitRange units,
                            const Vector<float>& gradients) const {
  const Tensor& weight = tensors_[weight_of(layer)];
  at(layer).weight_gradient(input_of(layer), range, units,
                            gradients.data() + weight.begin + std::int64_t{units.begin} * weight.fan_in);
}

void Model::propagate(int layer, SampleRange range) const {
  at(layer).propagate(range, at(layer - 1).output_error());
}

}  // namespace selvage::sgd
