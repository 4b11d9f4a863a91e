#include "../device_allreduce.hpp"

#include "../context_state.hpp"
#include "../peer_blocks.hpp"
#include "allreduce_kernels.hpp"
#include "device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

constexpr std::string_view construction = "the construction of an Allreduce";

std::int64_t divided(std::int64_t work, std::int64_t by) {
  return (work + by - 1) / by;
}

/// What both algorithms keep, and how they say what went wrong.
class DeviceAllreduce : public AllreduceRunner {
 public:
  bool progress(Executor& /*executor*/) final { return true; }
  [[nodiscard]] std::string describe_late() const final { return "a kernel to be enqueued"; }

  void check() const final {
    // Acquires what the kernel wrote before it released `kind`.
    if (acquire_word(fault_.get()->kind) == Fault::none) return;
    throw Error(ErrorKind::timeout,
                fmt::format("an allreduce on the GPU waited {} ms for rank {} (reduction {} wanted, {} seen)",
                            program_.timeout_ns / 1'000'000, fault_.get()->rank, fault_.get()->wanted,
                            fault_.get()->seen));
  }

 protected:
  explicit DeviceAllreduce(const AllreduceParts& parts) : state_(std::vector<AllreduceState>(1)) {
    program_.rank = parts.context.rank();
    program_.ranks = parts.context.size();
    program_.type = parts.elements.type;
    program_.operation = parts.operation;
    program_.count = parts.elements.count;
    program_.state = state_.data();
    program_.fault = fault_.get();
    program_.timeout_ns =
        static_cast<std::uint64_t>(std::chrono::nanoseconds(parts.context.timeout()).count());
  }
  /// As many blocks as give every thread `per_thread` of `work`, within limits.
  void set_grid(std::int64_t work, std::int64_t per_thread, int most_blocks) {
    constexpr std::int64_t most_threads = 512;
    constexpr std::int64_t warp = 32;
    const std::int64_t threads = divided(work, per_thread);
    program_.threads = static_cast<int>(std::clamp(divided(threads, warp) * warp, warp, most_threads));
    program_.blocks =
        static_cast<int>(std::clamp<std::int64_t>(divided(threads, most_threads), 1, most_blocks));
  }

  AllreduceProgram program_{};

 private:
  DeviceArray<AllreduceState> state_;
  PinnedValue<Fault> fault_;
};

class DeviceOneShot final : public DeviceAllreduce {
 public:
  explicit DeviceOneShot(const AllreduceParts& parts) : DeviceAllreduce(parts) {
    constexpr std::int64_t packet_bytes = 8;
    program_.elements[program_.rank] = parts.elements.data;
    program_.packet_count =
        divided(program_.count * static_cast<std::int64_t>(element_bytes(program_.type)), packet_bytes);
    blocks_ = PeerBlocks(
        parts.context, parts.executor, all_ranks(parts),
        2 * static_cast<std::size_t>(program_.ranks * program_.packet_count) * sizeof(FlaggedPacket),
        construction);
    for (int rank = 0; rank < program_.ranks; ++rank)
      program_.packets[rank] = reinterpret_cast<FlaggedPacket*>(blocks_.of(rank));
    set_grid(program_.packet_count, 1, most_allreduce_blocks);
    load_one_shot(program_);
  }

  void start(Executor& executor) override {
    launch_one_shot(program_, static_cast<cudaStream_t>(executor.stream()));
  }

 private:
  PeerBlocks blocks_;
};

class DeviceTwoShot final : public DeviceAllreduce {
 public:
  explicit DeviceTwoShot(const AllreduceParts& parts)
      : DeviceAllreduce(parts), elements_(parts.elements.data) {
    const std::size_t bytes = static_cast<std::size_t>(program_.count) * element_bytes(program_.type);
    const std::size_t flags = static_cast<std::size_t>(most_allreduce_blocks * program_.ranks);
    flags_ =
        PeerBlocks(parts.context, parts.executor, all_ranks(parts), 2 * flags * sizeof(Flag), construction);
    views_ = PeerBlocks(parts.context, parts.elements.data, all_ranks(parts), bytes, MemoryKind::device,
                        construction);
    if (views_.empty()) {
      views_ = PeerBlocks(parts.context, parts.executor, all_ranks(parts), bytes, construction);
      copied_bytes_ = bytes;
    }
    for (int rank = 0; rank < program_.ranks; ++rank) {
      program_.elements[rank] = views_.of(rank);
      program_.ready[rank] = reinterpret_cast<Flag*>(flags_.of(rank));
      program_.done[rank] = program_.ready[rank] + flags;
    }
    constexpr std::int64_t pack_bytes = 16;
    constexpr std::int64_t packs_per_thread = 2;
    // Enough to fill the links; more would only take multiprocessors away from others.
    constexpr int most_blocks = 32;
    set_grid(divided(static_cast<std::int64_t>(bytes), pack_bytes * program_.ranks), packs_per_thread,
             most_blocks);
    // A thread per peer meets them.
    program_.threads = std::max(program_.threads, most_allreduce_ranks);
    load_two_shot(program_);
  }

  /// Elements that peers can't map pass through memory that they can.
  void start(Executor& executor) override {
    const auto stream = static_cast<cudaStream_t>(executor.stream());
    copy(views_.of(program_.rank), elements_, stream);
    launch_two_shot(program_, stream);
    copy(elements_, views_.of(program_.rank), stream);
  }

 private:
  void copy(std::byte* to, const std::byte* from, cudaStream_t stream) const {
    if (copied_bytes_ == 0) return;
    check_cuda(cudaMemcpyAsync(to, from, copied_bytes_, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  }

  std::byte* elements_;
  PeerBlocks flags_;
  PeerBlocks views_;
  std::size_t copied_bytes_ = 0;  ///< 0 where peers map the elements themselves
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_device_one_shot(const AllreduceParts& parts) {
  return std::make_unique<DeviceOneShot>(parts);
}
std::unique_ptr<AllreduceRunner> make_device_two_shot(const AllreduceParts& parts) {
  return std::make_unique<DeviceTwoShot>(parts);
}

}  // namespace selvage::detail
