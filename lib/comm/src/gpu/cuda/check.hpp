#pragma once

#include <selvage/error.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <source_location>
#include <string_view>

namespace selvage::detail {

/// Throws Error{cuda} with CUDA's own text unless `code` is cudaSuccess.
inline void check_cuda(cudaError_t code, std::string_view call,
                       std::source_location where = std::source_location::current()) {
  if (code == cudaSuccess) return;
  throw Error(ErrorKind::cuda,
              fmt::format("{} failed: {} ({})", call, cudaGetErrorString(code), cudaGetErrorName(code)),
              static_cast<int>(code), where);
}

}  // namespace selvage::detail
