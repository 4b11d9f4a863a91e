#pragma once

#include "sgd/space.hpp"

namespace selvage::sgd {

enum class Form { as_is, transposed };

/// A matrix in host memory, row-major and without gaps, borrowed for one product.
struct Factor {
  const float* data;
  int rows;
  int columns;
  Form form = Form::as_is;

  [[nodiscard]] int height() const { return form == Form::as_is ? rows : columns; }
  [[nodiscard]] int width() const { return form == Form::as_is ? columns : rows; }
};

/// result = a b, in fp32, by the BLAS that the program is linked with.
///
/// Equal shapes and values give equal bits in one run of one program with a BLAS that computes a product in one thread;
/// what an element depends on besides its own row and column is the shape.
/// \param result  a.height() x b.width(), row-major, without gaps; none of it is read
/// \throws Error{usage} for factors that don't fit each other
void multiply(const Factor& a, const Factor& b, float* result);

}  // namespace selvage::sgd
