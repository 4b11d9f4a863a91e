#include "sgd/matrix_product.hpp"

#include <selvage/error.hpp>

#include <cblas.h>
#include <fmt/format.h>

namespace selvage::sgd {
namespace {

CBLAS_TRANSPOSE transposition(const Factor& factor) {
  return factor.form == Form::as_is ? CblasNoTrans : CblasTrans;
}

}  // namespace

void multiply(const Factor& a, const Factor& b, float* result) {
  if (a.width() != b.height()) {
    throw Error(ErrorKind::usage, fmt::format("a product of a {} x {} and a {} x {} matrix", a.height(),
                                              a.width(), b.height(), b.width()));
  }
  if (a.height() == 0 || b.width() == 0) return;
  cblas_sgemm(CblasRowMajor, transposition(a), transposition(b), a.height(), b.width(), a.width(), 1.0F,
              a.data, a.columns, b.data, b.columns, 0.0F, result, b.width());
}

}  // namespace selvage::sgd
