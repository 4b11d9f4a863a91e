#pragma once

#include "sgd/space.hpp"

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

 private:
  Space space_;
  int columns_;
  Matrix<float> partial_;  ///< chunks of rows x columns
};

}  // namespace selvage::sgd
