#include "sgd/matrix_product.hpp"

#include <selvage/error.hpp>

#include <cublas_v2.h>
#include <fmt/format.h>

#include <cstddef>
#include <source_location>
#include <string_view>

namespace selvage::sgd {
namespace {

/// What NVIDIA recommends for Hopper. Of our own: cuBLAS would allocate, which a capture forbids.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

void check_cublas(cublasStatus_t status, std::string_view call,
                  std::source_location where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", call, cublasGetStatusString(status)),
              static_cast<int>(status), where);
}

cublasOperation_t transposition(const Factor& factor) {
  return factor.form == Form::as_is ? CUBLAS_OP_N : CUBLAS_OP_T;
}

}  // namespace

class MatrixProducts::Library {
 public:
  explicit Library(const Space& space) : space_(space) {
    check_cublas(cublasCreate(&handle_), "cublasCreate");
    // The default mode computes fp32 products in fp32; TF32 would have to be asked for.
    check_cublas(cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
    // In this order: setting the stream takes the workspace away.
    check_cublas(cublasSetStream(handle_, space.cuda_stream()), "cublasSetStream");
    check_cublas(cublasSetWorkspace(handle_, workspace_.data(), workspace_bytes), "cublasSetWorkspace");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    space_.fence("sgd: before the products' workspace goes");
    cublasDestroy(handle_);
  }

  [[nodiscard]] cublasHandle_t handle() const { return handle_; }

 private:
  Space space_;  ///< keeps its stream
  Vector<std::byte> workspace_{Kokkos::view_alloc("sgd: workspace of products", Kokkos::WithoutInitializing),
                               workspace_bytes};
  cublasHandle_t handle_ = nullptr;
};

MatrixProducts::MatrixProducts(const Space& space) : library_(std::make_shared<Library>(space)) {}

void MatrixProducts::multiply(const Factor& a, const Factor& b, float* result) const {
  require_fit(a, b);
  if (a.height() == 0 || b.width() == 0) return;
  constexpr float one = 1;
  constexpr float zero = 0;
  // cuBLAS stores by columns: what lies there by rows is the transpose to it, and so is the result.
  check_cublas(
      cublasSgemm(library_->handle(), transposition(b), transposition(a), b.width(), a.height(), a.width(),
                  &one, b.data, b.distance(), a.data, a.distance(), &zero, result, b.width()),
      "cublasSgemm");
}

}  // namespace selvage::sgd
