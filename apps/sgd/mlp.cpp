#include "sgd/mlp.hpp"

#include "sgd/fixed_point.hpp"
#include "sgd/matrix_product.hpp"
#include "sgd/random.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace selvage::sgd {
namespace {

using Rows = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
using Cells = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>;

Factor rows_of(const Matrix<float>& matrix, SampleRange range, Form form = Form::as_is) {
  return {.data = matrix.data() + range.begin * matrix.extent_int(1),
          .rows = static_cast<int>(range.size()),
          .columns = matrix.extent_int(1),
          .form = form};
}

}  // namespace

Mlp::Mlp(std::vector<int> widths, std::int64_t samples) : widths_(std::move(widths)) {
  std::int64_t count = 0;
  const auto add = [&](const std::string& name, std::int64_t elements, int fan_in) {
    tensors_.push_back({name, count, elements, fan_in});
    count += elements;
  };
  for (int level = 0; level <= layers(); ++level) {
    outputs_.emplace_back("sgd: outputs", samples, width(level));
    errors_.emplace_back("sgd: errors", level == 0 ? 0 : samples, width(level));
    if (level == 0) continue;
    add(name_of(level - 1) + ".weight", std::int64_t{width(level)} * width(level - 1), width(level - 1));
    add(name_of(level - 1) + ".bias", width(level), width(level - 1));
  }
  parameters_ = Vector<float>("sgd: parameters", static_cast<std::size_t>(count));
}

std::string Mlp::name_of(int layer) {
  return fmt::format("dense{}", layer + 1);
}

void Mlp::draw_parameters(std::int64_t seed) const {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const Tensor& tensor = tensors_[t];
    // Streams of epochs count from 0, so these count from the other end.
    Random random(static_cast<std::uint64_t>(seed), ~static_cast<std::uint64_t>(t));
    const float bound = 1 / std::sqrt(static_cast<float>(tensor.fan_in));
    for (std::int64_t i = 0; i < tensor.count; ++i)
      parameters_(tensor.begin + i) = bound * (2 * random.uniform() - 1);
  }
}

void Mlp::forward(const Space& space, SampleRange range) const {
  for (int layer = 0; layer < layers(); ++layer) {
    const Factor weight{parameter(weight_of(layer)), width(layer + 1), width(layer), Form::transposed};
    const Matrix<float> out = output(layer + 1);
    space.fence("sgd: before a product");
    multiply(rows_of(output(layer), range), weight, out.data() + range.begin * width(layer + 1));
    const float* bias = parameter(weight_of(layer) + 1);
    const bool rectify = layer + 1 < layers();
    Kokkos::parallel_for(
        "sgd::bias", Cells(space, {range.begin, 0}, {range.end, std::int64_t{width(layer + 1)}}),
        KOKKOS_LAMBDA(const std::int64_t sample, const std::int64_t j) {
          const float value = out(sample, j) + bias[j];
          // Not fmax, which makes NaN 0 and so hides it.
          out(sample, j) = rectify && value < 0 ? 0 : value;
        });
  }
}

Mlp::Score Mlp::score(const Space& space, SampleRange range, const Vector<int>& labels) const {
  const Matrix<float> logits = output(layers());
  const Matrix<float> errors = error(layers());
  const int classes = width(layers());
  Score score;
  Kokkos::parallel_reduce(
      "sgd::loss", Rows(space, range.begin, range.end),
      KOKKOS_LAMBDA(const std::int64_t sample, std::int64_t& loss_sum, std::int64_t& correct,
                    std::int64_t& unusable) {
        float top = logits(sample, 0);
        int best = 0;
        for (int j = 1; j < classes; ++j) {
          if (!(logits(sample, j) > top)) continue;
          top = logits(sample, j);
          best = j;
        }
        float sum = 0;
        for (int j = 0; j < classes; ++j) sum += Kokkos::exp(logits(sample, j) - top);
        const int label = labels(sample);
        for (int j = 0; j < classes; ++j)
          errors(sample, j) = Kokkos::exp(logits(sample, j) - top) / sum - (j == label ? 1.0F : 0.0F);
        const float loss = Kokkos::log(sum) - (logits(sample, label) - top);
        if (fixed_point::fits(loss)) {
          loss_sum += fixed_point::from_real(loss);
        } else {
          ++unusable;
        }
        if (best == label) ++correct;
      },
      score.loss, score.correct, score.unusable);
  return score;
}

void Mlp::gradients(const Space& space, int layer, SampleRange range, const Vector<float>& gradients) const {
  const Tensor& weight = tensors_[weight_of(layer)];
  const Tensor& bias = tensors_[weight_of(layer) + 1];
  space.fence("sgd: before a product");
  multiply(rows_of(error(layer + 1), range, Form::transposed), rows_of(output(layer), range),
           gradients.data() + weight.begin);
  const Matrix<float> errors = error(layer + 1);
  const std::int64_t begin = bias.begin;
  Kokkos::parallel_for(
      "sgd::bias_gradient", Rows(space, 0, bias.count), KOKKOS_LAMBDA(const std::int64_t j) {
        float sum = 0;
        for (std::int64_t sample = range.begin; sample < range.end; ++sample) sum += errors(sample, j);
        gradients(begin + j) = sum;
      });
}

void Mlp::propagate(const Space& space, int layer, SampleRange range) const {
  const Factor weight{parameter(weight_of(layer)), width(layer + 1), width(layer)};
  const Matrix<float> errors = error(layer);
  const Matrix<float> outputs = output(layer);
  space.fence("sgd: before a product");
  multiply(rows_of(error(layer + 1), range), weight, errors.data() + range.begin * width(layer));
  Kokkos::parallel_for(
      "sgd::through_relu", Cells(space, {range.begin, 0}, {range.end, std::int64_t{width(layer)}}),
      KOKKOS_LAMBDA(const std::int64_t sample, const std::int64_t j) {
        if (!(outputs(sample, j) > 0)) errors(sample, j) = 0;
      });
}

std::optional<int> Mlp::first_unusable_layer(const Space& space, SampleRange range) const {
  for (int layer = 0; layer < layers(); ++layer) {
    const Matrix<float> out = output(layer + 1);
    std::int64_t unusable = 0;
    Kokkos::parallel_reduce(
        "sgd::find_unusable", Cells(space, {range.begin, 0}, {range.end, std::int64_t{width(layer + 1)}}),
        KOKKOS_LAMBDA(const std::int64_t sample, const std::int64_t j, std::int64_t& count) {
          if (!Kokkos::isfinite(out(sample, j))) ++count;
        },
        unusable);
    if (unusable > 0) return layer;
  }
  return std::nullopt;
}

}  // namespace selvage::sgd
