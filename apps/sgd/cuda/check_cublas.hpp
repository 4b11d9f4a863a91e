#pragma once

#include <selvage/error.hpp>

#include <cublas_v2.h>
#include <fmt/format.h>

#include <source_location>
#include <string_view>

namespace selvage::sgd {

/// Throws Error{cuda} with cuBLAS's own text unless `status` is success.
inline void check_cublas(cublasStatus_t status, std::string_view call,
                         std::source_location where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", call, cublasGetStatusString(status)),
              static_cast<int>(status), where);
}

[[nodiscard]] inline cublasOperation_t operation_of(bool is_transposed) {
  return is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace selvage::sgd
