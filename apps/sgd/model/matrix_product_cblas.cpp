#include "sgd/model/matrix_product.hpp"

#include <cblas.h>

namespace selvage::sgd {
namespace {

CBLAS_TRANSPOSE transposition(const Factor& factor) {
  return factor.form == Form::as_is ? CblasNoTrans : CblasTrans;
}

}  // namespace

class MatrixProducts::Library {
 public:
  explicit Library(const Space& instance) : space(instance) {}
  Space space;
};

MatrixProducts::MatrixProducts(const Space& space, ProductChoice /*choice*/)
    : library_(std::make_shared<Library>(space)) {}

void MatrixProducts::multiply(const Factor& a, const Factor& b, float* result) const {
  require_fit(a, b);
  if (a.height() == 0 || b.width() == 0) return;
  library_->space.fence("sgd: before a product");
  cblas_sgemm(CblasRowMajor, transposition(a), transposition(b), a.height(), b.width(), a.width(), 1.0F,
              a.data, a.distance(), b.data, b.distance(), 0.0F, result, b.width());
}

}  // namespace selvage::sgd
