#pragma once

#include "gpu/cuda/check.hpp"
#include "proxy/copies/engine_copy.hpp"

namespace selvage::detail {

/// One copy by a copy engine, enqueued. \throws Error{cuda}
inline void enqueue(const EngineCopy& copy, cudaStream_t stream) {
  if (copy.rows * copy.slices == 1) {
    return check_cuda(cudaMemcpyAsync(copy.target, copy.source, copy.row_bytes, cudaMemcpyDefault, stream),
                      "cudaMemcpyAsync");
  }
  if (copy.slices == 1) {
    return check_cuda(cudaMemcpy2DAsync(copy.target, copy.to.pitch_bytes, copy.source, copy.from.pitch_bytes,
                                        copy.row_bytes, copy.rows, cudaMemcpyDefault, stream),
                      "cudaMemcpy2DAsync");
  }
  cudaMemcpy3DParms box{};
  box.srcPtr = make_cudaPitchedPtr(const_cast<std::byte*>(copy.source), copy.from.pitch_bytes, copy.row_bytes,
                                   copy.from.slice_rows);
  box.dstPtr = make_cudaPitchedPtr(copy.target, copy.to.pitch_bytes, copy.row_bytes, copy.to.slice_rows);
  box.extent = make_cudaExtent(copy.row_bytes, copy.rows, copy.slices);
  box.kind = cudaMemcpyDefault;
  check_cuda(cudaMemcpy3DAsync(&box, stream), "cudaMemcpy3DAsync");
}

}  // namespace selvage::detail
