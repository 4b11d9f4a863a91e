#include "sgd/model/matrix_product.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::sgd {

void MatrixProducts::require_fit(const Factor& a, const Factor& b) {
  if (a.width() == b.height()) return;
  throw Error(ErrorKind::usage, fmt::format("a product of a {} x {} and a {} x {} matrix", a.height(),
                                            a.width(), b.height(), b.width()));
}

}  // namespace selvage::sgd
