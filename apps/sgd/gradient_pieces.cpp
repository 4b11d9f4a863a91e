#include "sgd/gradient_pieces.hpp"

namespace selvage::sgd {
namespace {

constexpr int parts_of_first_weight = 4;

std::vector<UnitRange> cut(UnitRange units, int parts) {
  std::vector<UnitRange> cuts;
  for (int part = 0; part < parts; ++part) {
    const UnitRange range{units.size() * part / parts, units.size() * (part + 1) / parts};
    if (range.size() > 0) cuts.push_back(range);
  }
  return cuts;
}

}  // namespace

GradientPieces cut_gradients(const Model& model, std::int64_t bucket_bytes) {
  GradientPieces pieces;
  for (int layer = 0; layer < model.layers(); ++layer) {
    const Tensor& weight = model.tensors()[Model::weight_of(layer)];
    const bool is_cut = layer == 0 && weight.count * static_cast<std::int64_t>(sizeof(float)) > bucket_bytes;
    GradientPieces::OfLayer& own = pieces.layers.emplace_back();
    for (const UnitRange units : cut(model.units_of(layer), is_cut ? parts_of_first_weight : 1)) {
      own.weight.push_back({units, pieces.tensors.size()});
      pieces.tensors.push_back({.name = weight.name,
                                .begin = weight.begin + std::int64_t{units.begin} * weight.fan_in,
                                .count = std::int64_t{units.size()} * weight.fan_in,
                                .fan_in = weight.fan_in});
    }
    own.bias = pieces.tensors.size();
    pieces.tensors.push_back(model.tensors()[Model::weight_of(layer) + 1]);
  }
  return pieces;
}

}  // namespace selvage::sgd
