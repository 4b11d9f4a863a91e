#include "../device_line.hpp"

#include "check.hpp"
#include "device_memory.hpp"
#include "message_kernels.hpp"

#include <fmt/format.h>

#include <vector>

namespace selvage::detail {
namespace {

class CudaLine final : public DeviceLine {
 public:
  CudaLine(const ContextState& context, const MessageLine& line)
      : line_(line), messages_(line.messages()), failed_(std::vector<std::uint32_t>(1)) {
    load_message_kernels();
    program_.port = line.port();
    program_.port.messages = messages_.data();
    program_.late = late_.get();
    program_.failed = failed_.data();
    program_.timeout_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(context.timeout()).count());
  }

  void start(Executor& executor, const MessageSelection& selection) override {
    launch_start(program_, selection, static_cast<cudaStream_t>(executor.stream()));
  }
  void wait(Executor& executor, const MessageSelection& selection) override {
    launch_wait(program_, selection, static_cast<cudaStream_t>(executor.stream()));
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
  const MessageLine& line_;
  DeviceArray<PlannedMessage> messages_;
  DeviceArray<std::uint32_t> failed_;
  PinnedValue<LateMessage> late_;
  MessageProgram program_{};
};

}  // namespace

std::unique_ptr<DeviceLine> make_device_line(const ContextState& context, const MessageLine& line) {
  return std::make_unique<CudaLine>(context, line);
}

}  // namespace selvage::detail
