#include "check_cublas.hpp"
#include "sgd/model/matrix_product.hpp"
#include "timed_products.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace selvage::sgd {
namespace {

/// What NVIDIA recommends for Hopper. Of our own: cuBLAS would allocate, which a capture forbids.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
/// What cuBLAS asks of it; Kokkos puts Views at odd multiples of 128. Else cublasSgemm does without, by slow kernels for
/// small products, and cublasLtMatmul computes nothing.
constexpr std::size_t workspace_alignment = 256;

cublasOperation_t transposition(const Factor& factor) {
  return operation_of(factor.form == Form::transposed);
}

}  // namespace

class MatrixProducts::Library {
 public:
  Library(const Space& space, ProductChoice choice) : space_(space) {
    check_cublas(cublasCreate(&handle_), "cublasCreate");
    // The default mode computes fp32 products in fp32; TF32 would have to be asked for.
    check_cublas(cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
    // In this order: setting the stream takes the workspace away.
    check_cublas(cublasSetStream(handle_, space.cuda_stream()), "cublasSetStream");
    check_cublas(cublasSetWorkspace(handle_, workspace(), workspace_bytes), "cublasSetWorkspace");
    if (choice == ProductChoice::timed)
      timed_.emplace(space, ProductPlace{handle_, space.cuda_stream(), workspace(), workspace_bytes});
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    space_.fence("sgd: before the products' workspace goes");
    cublasDestroy(handle_);
  }

  void multiply(const Factor& a, const Factor& b, float* result) {
    if (!timed_) return multiply_by_default(a, b, result);
    timed_->multiply(a, b, result, [&] { multiply_by_default(a, b, result); });
  }

 private:
  [[nodiscard]] void* workspace() const {
    void* begin = workspace_.data();
    std::size_t left = workspace_.size();
    return std::align(workspace_alignment, workspace_bytes, begin, left);
  }
  void multiply_by_default(const Factor& a, const Factor& b, float* result) const {
    constexpr float one = 1;
    constexpr float zero = 0;
    // cuBLAS stores by columns: what lies there by rows is the transpose to it, and so is the result.
    check_cublas(cublasSgemm(handle_, transposition(b), transposition(a), b.width(), a.height(), a.width(),
                             &one, b.data, b.distance(), a.data, a.distance(), &zero, result, b.width()),
                 "cublasSgemm");
  }

  Space space_;  ///< keeps its stream
  Vector<std::byte> workspace_{Kokkos::view_alloc("sgd: workspace of products", Kokkos::WithoutInitializing),
                               workspace_bytes + workspace_alignment};
  cublasHandle_t handle_ = nullptr;
  std::optional<TimedProducts> timed_;  ///< where the choice is timed
};

MatrixProducts::MatrixProducts(const Space& space, ProductChoice choice)
    : library_(std::make_shared<Library>(space, choice)) {}

void MatrixProducts::multiply(const Factor& a, const Factor& b, float* result) const {
  require_fit(a, b);
  if (a.height() == 0 || b.width() == 0) return;
  library_->multiply(a, b, result);
}

}  // namespace selvage::sgd
