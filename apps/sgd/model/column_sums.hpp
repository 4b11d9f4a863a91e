#pragma once

#include "sgd/model/space.hpp"

#include <cstdint>

namespace selvage::sgd {

/// Sums over the rows of matrices with as many columns: the gradient by a bias. How an element is added up depends on the
/// matrix's shape alone.
class ColumnSums {
 public:
  /// \param most_rows  of any of the matrices
  ColumnSums(const Space& space, std::int64_t most_rows, int columns);

  /// Enqueues it. \param matrix  rows x columns, row-major, without gaps  \param sums  overwritten, one per column
  void add_up(const float* matrix, std::int64_t rows, float* sums) const;
  /// The same, where elements become 0 first that have no positive one at their place of `passed`: the way back through
  /// ReLU, in one pass.
  void mask_and_add_up(float* matrix, const float* passed, std::int64_t rows, float* sums) const;

 private:
  Space space_;
  Matrix<float> partial_;  ///< chunks of rows x columns; no rows where one chunk is enough
};

}  // namespace selvage::sgd
