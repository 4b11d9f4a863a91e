#include "proxy/device_channel.hpp"

#include "gpu/cuda/check.hpp"
#include "gpu/cuda/device_memory.hpp"
#include "message_kernels.hpp"
#include "runtime/wait.hpp"

#include <fmt/format.h>

#include <vector>

namespace selvage::detail {
namespace {

class CudaChannel final : public DeviceChannel {
 public:
  CudaChannel(const ContextState& context, const ProxyChannel& line)
      : line_(line), messages_(line.messages()), failed_(std::vector<std::uint32_t>(1)) {
    load_message_kernels();
    program_.port = line.port();
    program_.port.messages = messages_.data();
    program_.late = late_.get();
    program_.failed = failed_.data();
    program_.timeout_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(context.timeout()).count());
    check_cuda(cudaEventCreateWithFlags(&last_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  ~CudaChannel() override { cudaEventDestroy(last_); }

  void start(Executor& executor, const MessageSelection& selection) override {
    const auto stream = static_cast<cudaStream_t>(executor.stream());
    launch_start(program_, selection, stream);
    note_last(stream);
  }
  void wait(Executor& executor, const MessageSelection& selection) override {
    const auto stream = static_cast<cudaStream_t>(executor.stream());
    launch_wait(program_, selection, stream);
    note_last(stream);
  }

  bool drain(std::chrono::milliseconds longest) noexcept override {
    Deadline deadline(longest);
    while (cudaEventQuery(last_) == cudaErrorNotReady) {
      if (deadline.passed()) return false;
      yield_core();
    }
    return true;
  }

  void check() override {
    // Acquires what the kernel wrote before it released `found`.
    if (acquire_word(late_.get()->found) == 0) return;
    const PlannedMessage& message = line_.messages()[late_.get()->message];
    const Command& command = message.command;
    throw Error(
        ErrorKind::timeout,
        fmt::format(
            "a halo {} on the GPU waited {} ms for rank {} ({}, {} by proxy of epoch {} wanted, {} seen)",
            message.reverse != 0 ? "reduction" : "exchange", program_.timeout_ns / 1'000'000, command.rank,
            command.own_flag != 0 ? "peer transport" : "MPI",
            command.kind == CommandKind::send ? "acceptance" : "message", late_.get()->wanted,
            late_.get()->seen));
  }

 private:
  /// During a capture nothing is enqueued yet; the caller decides when the graph is replayed.
  void note_last(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check_cuda(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
    if (status == cudaStreamCaptureStatusNone) check_cuda(cudaEventRecord(last_, stream), "cudaEventRecord");
  }

  const ProxyChannel& line_;
  DeviceArray<PlannedMessage> messages_;
  DeviceArray<std::uint32_t> failed_;
  PinnedValue<LateMessage> late_;
  MessageProgram program_{};
  cudaEvent_t last_ = nullptr;  ///< after the kernel enqueued last
};

}  // namespace

std::unique_ptr<DeviceChannel> make_device_channel(const ContextState& context, const ProxyChannel& line) {
  return std::make_unique<CudaChannel>(context, line);
}

}  // namespace selvage::detail
