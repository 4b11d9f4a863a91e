#include "sgd/sums/gradient_pieces.hpp"

#include <algorithm>

namespace selvage::sgd {
namespace {

constexpr int parts_of_first_weight = 4;

/// At multiples of four rows, so that parts are as far from a multiple of 16 bytes as the whole.
std::vector<RowRange> cut(RowRange rows, int parts) {
  const auto place = [&](int part) { return part == parts ? rows.end : rows.end / 4 * part / parts * 4; };
  std::vector<RowRange> cuts;
  for (int part = 0; part < parts; ++part) {
    const RowRange range{place(part), place(part + 1)};
    if (range.size() > 0) cuts.push_back(range);
  }
  return cuts;
}

}  // namespace

GradientPieces cut_gradients(const Model& model, std::int64_t bucket_bytes) {
  GradientPieces pieces;
  for (int layer = 0; layer < model.layers(); ++layer) {
    const Tensor& weight = model.tensors()[Model::weight_of(layer)];
    const std::int64_t row_elements = model.units_of(layer);
    const bool is_cut = layer == 0 && weight.count * static_cast<std::int64_t>(sizeof(float)) > bucket_bytes;
    GradientPieces::OfLayer& own = pieces.layers.emplace_back();
    own.first = pieces.tensors.size();
    for (const RowRange rows : cut(model.rows_of(layer), is_cut ? parts_of_first_weight : 1)) {
      own.weight.push_back({rows, pieces.tensors.size()});
      pieces.tensors.push_back({.name = weight.name,
                                .begin = weight.begin + rows.begin * row_elements,
                                .extent = {rows.size(), row_elements},
                                .count = rows.size() * row_elements});
    }
    std::ranges::reverse(own.weight);
    own.bias = pieces.tensors.size();
    pieces.tensors.push_back(model.tensors()[Model::weight_of(layer) + 1]);
  }
  return pieces;
}

}  // namespace selvage::sgd
