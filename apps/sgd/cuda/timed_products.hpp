#pragma once

#include "lt_product.hpp"
#include "sgd/model/space.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace selvage::sgd {

/// Products by the fastest of cuBLAS's algorithms for each shape, as timed when the shape is met first.
///
/// cuBLAS's own choice for a product of some thousand elements may be a kernel of 8 us with a memset and another kernel
/// before it, where similar products take 3 us. The cuBLASLt guide suggests to time what its heuristic gives.
class TimedProducts {
 public:
  TimedProducts(const Space& space, const ProductPlace& place) : space_(space), place_(place) {}

  /// result = a b, enqueued; a shape that is met first, outside of a capture, is timed, for which the host waits.
  /// \param by_default  enqueues the product by cuBLAS's own choice
  /// \throws Error{cuda}
  void multiply(const Factor& a, const Factor& b, float* result, const std::function<void()>& by_default);

 private:
  /// Products of a shape.
  struct Plan {
    std::unique_ptr<LtProduct> product;
    std::optional<Algorithm> algorithm;  ///< none: cuBLAS's own choice
  };
  [[nodiscard]] Plan make_plan(const ProductShape& shape, const Factor& a, const Factor& b, float* result,
                               const std::function<void()>& by_default) const;
  [[nodiscard]] bool is_captured() const;
  /// Of one product, in a graph as a step's.
  [[nodiscard]] double milliseconds_of(const std::function<void()>& product) const;

  Space space_;
  ProductPlace place_;
  std::map<ProductShape, Plan> plans_;
};

}  // namespace selvage::sgd
