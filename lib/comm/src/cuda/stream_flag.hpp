#pragma once

#include "check.hpp"

#include <cuda.h>

#include <cstdint>
#include <string_view>

namespace selvage::detail {

/// A word in a GPU's memory, this one's or a mapped peer's, that streams set and wait for without a kernel.
using StreamFlag = std::uint32_t;

inline void check_stream_flag(CUresult code, std::string_view call) {
  if (code == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(code, &text);
  throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", call, text == nullptr ? "unknown error" : text),
              static_cast<int>(code));
}

/// What `stream` was given before is done, and can be seen by everybody, when the flag is set.
inline void set_flag(StreamFlag* flag, cudaStream_t stream) {
  check_stream_flag(
      cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WRITE_VALUE_DEFAULT),
      "cuStreamWriteValue32");
}
/// What `stream` is given next begins when the flag is set. Without a limit: somebody has to set it.
inline void await_flag(StreamFlag* flag, cudaStream_t stream) {
  check_stream_flag(
      cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_GEQ),
      "cuStreamWaitValue32");
}

}  // namespace selvage::detail
