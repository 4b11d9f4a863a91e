#pragma once

#include "proxy/message_port.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace selvage::detail {

/// The first message that was not complete in time. In host memory; a kernel writes it, and releases `found` last.
struct LateMessage {
  std::uint64_t found = 0;
  std::uint64_t message = 0;
  std::uint64_t wanted = 0;
  std::uint64_t seen = 0;
};

/// The arguments that the kernels of a channel share.
struct MessageProgram {
  MessagePort port;  ///< all of it in the GPU's reach
  LateMessage* late;
  std::uint32_t* failed;  ///< GPU memory; once set, kernels neither start nor wait
  std::uint64_t timeout_ns;
};

/// Loads the kernels below. Otherwise CUDA would load them at the first launch, perhaps while another kernel waits.
void load_message_kernels();
/// Asks the proxy to start the selected messages.
void launch_start(const MessageProgram& program, const MessageSelection& selection, cudaStream_t stream);
/// Waits until the selected messages are complete.
void launch_wait(const MessageProgram& program, const MessageSelection& selection, cudaStream_t stream);

}  // namespace selvage::detail
