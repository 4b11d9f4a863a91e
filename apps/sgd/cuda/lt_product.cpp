#include "lt_product.hpp"

#include "check_cublas.hpp"

#include <array>
#include <cstdint>

namespace selvage::sgd {
namespace {

unsigned alignment_of(const float* data) {
  // More than 16 bytes are of no use to any algorithm, and would make shapes differ by the place of a tensor.
  for (const unsigned bytes : {16U, 8U})
    if (reinterpret_cast<std::uintptr_t>(data) % bytes == 0) return bytes;
  return sizeof(float);
}

}  // namespace

ProductShape::ProductShape(const Factor& a, const Factor& b, const float* result)
    : height(a.height()),
      width(b.width()),
      depth(a.width()),
      distance_of_a(a.distance()),
      distance_of_b(b.distance()),
      is_a_transposed(a.form == Form::transposed),
      is_b_transposed(b.form == Form::transposed),
      alignment_of_a(alignment_of(a.data)),
      alignment_of_b(alignment_of(b.data)),
      alignment_of_result(alignment_of(result)) {}

// cuBLASLt takes matrices by columns: what lies there by rows is the transpose to it. So its first factor is b, its
// second is a, and its result is the transpose of ours.
LtProduct::LtProduct(const ProductPlace& place, const ProductShape& shape)
    : place_(place),
      shape_(shape),
      a_(shape.is_a_transposed ? layout(shape.height, shape.depth, shape.distance_of_a)
                               : layout(shape.depth, shape.height, shape.distance_of_a)),
      b_(shape.is_b_transposed ? layout(shape.depth, shape.width, shape.distance_of_b)
                               : layout(shape.width, shape.depth, shape.distance_of_b)),
      result_(layout(shape.width, shape.height, shape.width)) {
  cublasLtMatmulDesc_t description = nullptr;
  check_cublas(cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F),
               "cublasLtMatmulDescCreate");
  description_.reset(description);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, bool is_transposed) {
    const cublasOperation_t operation = operation_of(is_transposed);
    check_cublas(cublasLtMatmulDescSetAttribute(description, attribute, &operation, sizeof(operation)),
                 "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, shape.is_b_transposed);
  set(CUBLASLT_MATMUL_DESC_TRANSB, shape.is_a_transposed);
}

LtProduct::Layout LtProduct::layout(int rows, int columns, int distance) {
  cublasLtMatrixLayout_t made = nullptr;
  check_cublas(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                          static_cast<std::uint64_t>(columns), distance),
               "cublasLtMatrixLayoutCreate");
  return Layout(made);
}

LtProduct::Preference LtProduct::preference(std::size_t workspace_bytes) const {
  cublasLtMatmulPreference_t made = nullptr;
  check_cublas(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  Preference preference(made);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    check_cublas(cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof(value)),
                 "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
  const std::uint32_t first = shape_.alignment_of_b;
  const std::uint32_t second = shape_.alignment_of_a;
  const std::uint32_t result = shape_.alignment_of_result;
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, first);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, second);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, result);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, result);
  return preference;
}

std::vector<Algorithm> LtProduct::algorithms() const {
  std::vector<Algorithm> all = algorithms(place_.workspace_bytes);
  for (const Algorithm& algorithm : algorithms(0)) all.push_back(algorithm);
  return all;
}

std::vector<Algorithm> LtProduct::algorithms(std::size_t workspace_bytes) const {
  constexpr int most = 12;
  std::array<cublasLtMatmulHeuristicResult_t, most> found{};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle(), description_.get(), b_.get(), a_.get(), result_.get(), result_.get(),
      preference(workspace_bytes).get(), most, found.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  check_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < count; ++i) {
    const auto& each = found.at(static_cast<std::size_t>(i));
    if (each.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back({each.algo});
  }
  return algorithms;
}

cublasStatus_t LtProduct::enqueue(const Algorithm& algorithm, const float* a, const float* b,
                                  float* result) const {
  constexpr float one = 1;
  constexpr float zero = 0;
  return cublasLtMatmul(handle(), description_.get(), &one, b, b_.get(), a, a_.get(), &zero, result,
                        result_.get(), result, result_.get(), &algorithm.code, place_.workspace,
                        place_.workspace_bytes, place_.stream);
}

}  // namespace selvage::sgd
