#pragma once

#include "sgd/model.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace selvage::sgd {

/// The gradients of a model as they become ready: a bias, and a weight whole or by some of its units.
struct GradientPieces {
  struct Weight {
    UnitRange units;
    std::size_t tensor;
  };
  struct OfLayer {
    std::size_t bias;  ///< its tensor
    std::vector<Weight> weight;
  };

  std::vector<Tensor> tensors;  ///< one after the other
  std::vector<OfLayer> layers;
};

/// Nothing is computed behind the first layer's weight, so its sum is hidden by nothing but itself: where it is larger
/// than a bucket, it is cut in four, and only the last quarter is waited for.
[[nodiscard]] GradientPieces cut_gradients(const Model& model, std::int64_t bucket_bytes);

}  // namespace selvage::sgd
