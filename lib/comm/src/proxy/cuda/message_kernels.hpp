#pragma once

#include "proxy/message_port.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace selvage::detail {

/// The first message that didn't complete in time. In host memory that kernels write; `found` is released last.
struct LateMessage {
  std::uint64_t found = 0;
  std::uint64_t message = 0;
  std::uint64_t wanted = 0;
  std::uint64_t seen = 0;
};

/// What a line's kernels share.
struct MessageProgram {
  MessagePort port;  ///< all of it in the GPU's reach
  LateMessage* late;
  std::uint32_t* failed;  ///< GPU memory; once set, kernels neither start nor wait
  std::uint64_t timeout_ns;
};

/// Loads the kernels below, which CUDA would else do at the first launch, maybe while another one waits.
void load_message_kernels();
/// Has the selected messages started.
void launch_start(const MessageProgram& program, const MessageSelection& selection, cudaStream_t stream);
/// Waits until the selected messages are complete.
void launch_wait(const MessageProgram& program, const MessageSelection& selection, cudaStream_t stream);

}  // namespace selvage::detail
