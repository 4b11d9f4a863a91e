#pragma once

#include "sgd/model/matrix_product.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <compare>
#include <cstddef>
#include <memory>
#include <vector>

namespace selvage::sgd {

/// What cuBLAS's algorithms for a product depend on.
struct ProductShape {
  int height;  ///< of the result
  int width;
  int depth;
  int distance_of_a;
  int distance_of_b;
  bool is_a_transposed;
  bool is_b_transposed;
  unsigned alignment_of_a;  ///< bytes, 16 at most
  unsigned alignment_of_b;
  unsigned alignment_of_result;

  ProductShape(const Factor& a, const Factor& b, const float* result);
  friend auto operator<=>(const ProductShape&, const ProductShape&) = default;
};

/// Where a product takes place.
struct ProductPlace {
  cublasHandle_t handle;
  cudaStream_t stream;
  void* workspace;
  std::size_t workspace_bytes;
};

/// Named, as nvcc 13.0 fails on vectors of cuBLASLt's own type, which has no name.
struct Algorithm {
  cublasLtMatmulAlgo_t code;
};

/// Products of one shape by cuBLASLt, where the caller names the algorithm. In fp32: TF32 would have to be asked for.
class LtProduct {
 public:
  /// \throws Error{cuda}
  LtProduct(const ProductPlace& place, const ProductShape& shape);

  /// What cuBLASLt thinks fastest, best first, then the same of those that need no workspace, which split no sums and so need
  /// no memset; none where it has nothing.
  [[nodiscard]] std::vector<Algorithm> algorithms() const;
  /// result = a b, enqueued. \return what cuBLASLt says: not every algorithm that it names can run
  [[nodiscard]] cublasStatus_t enqueue(const Algorithm& algorithm, const float* a, const float* b,
                                       float* result) const;

 private:
  struct Destroy {
    void operator()(cublasLtMatmulDescOpaque_t* it) const { cublasLtMatmulDescDestroy(it); }
    void operator()(cublasLtMatrixLayoutOpaque_t* it) const { cublasLtMatrixLayoutDestroy(it); }
    void operator()(cublasLtMatmulPreferenceOpaque_t* it) const { cublasLtMatmulPreferenceDestroy(it); }
  };
  using Layout = std::unique_ptr<cublasLtMatrixLayoutOpaque_t, Destroy>;
  using Preference = std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, Destroy>;

  [[nodiscard]] static Layout layout(int rows, int columns, int distance);
  [[nodiscard]] Preference preference(std::size_t workspace_bytes) const;
  [[nodiscard]] std::vector<Algorithm> algorithms(std::size_t workspace_bytes) const;
  /// cuBLAS's handle is one of cuBLASLt too.
  [[nodiscard]] cublasLtHandle_t handle() const { return reinterpret_cast<cublasLtHandle_t>(place_.handle); }

  ProductPlace place_;
  ProductShape shape_;
  std::unique_ptr<cublasLtMatmulDescOpaque_t, Destroy> description_;
  Layout a_;
  Layout b_;
  Layout result_;
};

}  // namespace selvage::sgd
