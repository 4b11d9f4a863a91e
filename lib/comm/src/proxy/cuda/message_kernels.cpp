#include "message_kernels.hpp"

#include "gpu/cuda/check.hpp"

namespace selvage::detail {
namespace {

constexpr std::uint32_t threads = 128;

__global__ void __launch_bounds__(threads) start_kernel(MessageProgram program, MessageSelection selection) {
  const MessagePort& port = program.port;
  if (*program.failed != 0) return;
  // The ring of commands has one producer; the ring of triggers may have any number.
  const std::uint32_t producers = port.has_queue ? 1 : blockDim.x;
  if (threadIdx.x >= producers) return;
  for (std::uint32_t i = threadIdx.x; i < port.count; i += producers) {
    if (selection.has(port.messages[i])) port.start(i);
  }
}

/// Each epoch has its own word for completion.
__device__ std::uint64_t last_completed(const MessagePort& port, std::uint32_t message) {
  std::uint64_t last = 0;
  for (std::uint64_t epoch = 0; epoch < TriggerPort::Tag::epochs_in_flight; ++epoch) {
    const std::uint64_t seen = acquire_word(port.completed[TriggerPort::completed_index({message, epoch})]);
    if (seen > last) last = seen;
  }
  return last;
}

__device__ void report_late(const MessageProgram& program, std::uint32_t message) {
  if (atomicExch(program.failed, 1) != 0) return;
  const TriggerPort::Tag tag{message, program.port.uses[message]};
  program.late->message = message;
  program.late->wanted = tag.epoch;
  program.late->seen = last_completed(program.port, message);
  // Publishes to the host: the description above.
  release_word(program.late->found, 1);
}

__global__ void __launch_bounds__(threads) wait_kernel(MessageProgram program, MessageSelection selection) {
  const MessagePort& port = program.port;
  for (std::uint32_t i = threadIdx.x; i < port.count; i += blockDim.x) {
    if (!selection.has(port.messages[i])) continue;
    // Acquires from the proxy: what the message brought, or that its buffer is free.
    const bool ended = poll_until([&] { return load_relaxed(*program.failed) != 0 || port.is_complete(i); },
                                  program.timeout_ns);
    if (!ended) report_late(program, i);
  }
}

}  // namespace

void load_message_kernels() {
  cudaFuncAttributes unused{};
  check_cuda(cudaFuncGetAttributes(&unused, start_kernel), "loading comm::start_messages");
  check_cuda(cudaFuncGetAttributes(&unused, wait_kernel), "loading comm::wait_messages");
}

void launch_start(const MessageProgram& program, const MessageSelection& selection, cudaStream_t stream) {
  start_kernel<<<1, threads, 0, stream>>>(program, selection);
  check_cuda(cudaGetLastError(), "launching comm::start_messages");
}

void launch_wait(const MessageProgram& program, const MessageSelection& selection, cudaStream_t stream) {
  wait_kernel<<<1, threads, 0, stream>>>(program, selection);
  check_cuda(cudaGetLastError(), "launching comm::wait_messages");
}

}  // namespace selvage::detail
