#pragma once

#include "sgd/model/space.hpp"

#include <memory>

namespace selvage::sgd {

enum class Form { as_is, transposed };

/// A matrix in the space's memory, row-major, borrowed for one product.
struct Factor {
  const float* data;
  int rows;
  int columns;
  Form form = Form::as_is;
  int row_distance = 0;  ///< elements from row to row; 0: no gaps

  [[nodiscard]] int height() const { return form == Form::as_is ? rows : columns; }
  [[nodiscard]] int distance() const { return row_distance > 0 ? row_distance : columns; }
  [[nodiscard]] int width() const { return form == Form::as_is ? columns : rows; }
};

/// Which of a library's algorithms compute products.
enum class ProductChoice {
  fixed,  ///< the library's own choice for the shape
  timed,  ///< on GPUs the fastest of several, timed when a shape is met first; that decides on bits. On hosts as fixed
};

/// Matrix products in fp32 on one instance, by a library: a BLAS with CBLAS on hosts, cuBLAS on GPUs.
///
/// Equal shapes, values and places (addresses that are equal modulo 16 bytes) give equal bits in one run of one program,
/// with a BLAS that computes a product in one thread; what an element depends on besides its own row and column is the
/// shape. With a fixed choice that holds between runs and ranks too. On a GPU no product is rounded to TF32, and a
/// product can be captured in a graph.
class MatrixProducts {
 public:
  /// \throws Error{cuda} where cuBLAS can't be used; Error{io} where a limit leaves OpenBLAS no room
  explicit MatrixProducts(const Space& space, ProductChoice choice = ProductChoice::fixed);

  /// result = a b: enqueued on the instance on GPUs, done on hosts. A product to be timed waits for the instance, and is
  /// computed several times; where it is met first in a capture, it has the library's own choice.
  /// \param result  a.height() x b.width(), row-major, without gaps; none of it is read
  /// \throws Error{usage} for factors that don't fit each other; Error{cuda}
  void multiply(const Factor& a, const Factor& b, float* result) const;

 private:
  class Library;
  /// \throws Error{usage}
  static void require_fit(const Factor& a, const Factor& b);

  std::shared_ptr<Library> library_;
};

}  // namespace selvage::sgd
