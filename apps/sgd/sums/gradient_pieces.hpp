#pragma once

#include "sgd/model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace selvage::sgd {

/// The gradients of a model as they become ready: a bias, and a weight whole or by some of its rows.
struct GradientPieces {
  struct Weight {
    RowRange rows;
    std::size_t tensor;
  };
  struct OfLayer {
    std::size_t first;           ///< of its tensors
    std::size_t bias;            ///< its tensor
    std::vector<Weight> weight;  ///< from the last rows to the first
  };

  std::vector<Tensor> tensors;  ///< one after the other
  std::vector<OfLayer> layers;
};

/// Nothing is computed behind the first layer's weight, so its sum is hidden by nothing but itself: where it is larger
/// than a bucket, it is cut in four, and only one quarter travels when backward is over: the first one, so that what is
/// ready is always the end of the list of tensors.
[[nodiscard]] GradientPieces cut_gradients(const Model& model, std::int64_t bucket_bytes);

}  // namespace selvage::sgd
