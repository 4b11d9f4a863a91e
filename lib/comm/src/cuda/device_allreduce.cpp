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
constexpr std::int64_t pack_bytes = 16;

std::int64_t divided(std::int64_t work, std::int64_t by) {
  return (work + by - 1) / by;
}

/// What all algorithms keep, and how they say what went wrong.
class DeviceAllreduce : public AllreduceRunner {
 public:
  void start(Executor& executor) override {
    kernel_.launch(program_, static_cast<cudaStream_t>(executor.stream()));
  }
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
  DeviceAllreduce(const AllreduceParts& parts, AllreduceKernel kernel)
      : kernel_(kernel),
        most_blocks_(parts.multiprocessors == 0 ? most_allreduce_blocks
                                                : std::min(parts.multiprocessors, most_allreduce_blocks)),
        state_(std::vector<AllreduceState>(1)) {
    program_.rank = parts.context.rank();
    program_.ranks = parts.context.size();
    program_.type = parts.elements.type;
    program_.operation = parts.operation;
    program_.count = parts.elements.count;
    program_.state = state_.data();
    program_.fault = fault_.get();
    constexpr int first_that_chains = 9;
    int device = 0;
    int generation = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaDeviceGetAttribute(&generation, cudaDevAttrComputeCapabilityMajor, device),
               "cudaDeviceGetAttribute");
    program_.is_chained = generation >= first_that_chains;
    program_.timeout_ns =
        static_cast<std::uint64_t>(std::chrono::nanoseconds(parts.context.timeout()).count());
  }

  [[nodiscard]] std::int64_t bytes() const {
    return program_.count * static_cast<std::int64_t>(element_bytes(program_.type));
  }
  /// Small blocks start and end sooner, as long as there are enough of them.
  void set_grid(std::int64_t threads) {
    program_.threads = 128;
    while (program_.threads < most_allreduce_threads && divided(threads, program_.threads) > most_blocks_)
      program_.threads *= 2;
    program_.blocks =
        static_cast<int>(std::clamp<std::int64_t>(divided(threads, program_.threads), 1, most_blocks_));
  }
  void load() const { kernel_.load(program_); }
  [[nodiscard]] static bool is_aligned(const std::byte* elements) {
    return reinterpret_cast<std::uintptr_t>(elements) % pack_bytes == 0;
  }

  AllreduceProgram program_{};
  AllreduceKernel kernel_;
  int most_blocks_;

 private:
  DeviceArray<AllreduceState> state_;
  PinnedValue<Fault> fault_;
};

/// Between ranks that store into each other's scratch only.
class ThroughScratch final : public DeviceAllreduce {
 public:
  struct Shape {
    std::int64_t line_bytes;
    std::int64_t line_words;  ///< of elements
    int lanes;                ///< threads of a line
    bool
        is_by_parts;  ///< a rank's lines are of a part of the elements, twice: before and after they are combined
  };
  ThroughScratch(const AllreduceParts& parts, AllreduceKernel kernel, const Shape& shape)
      : DeviceAllreduce(parts, kernel) {
    constexpr std::int64_t lanes_per_warp = 32;
    constexpr std::int64_t parities = 2;
    program_.elements[program_.rank] = parts.elements.data;
    program_.is_aligned = is_aligned(parts.elements.data);
    const std::int64_t words = divided(bytes(), element_word_bytes);
    const std::int64_t lines_per_warp = lanes_per_warp / shape.lanes;
    program_.lines = divided(divided(words, shape.is_by_parts ? program_.ranks : 1), shape.line_words);
    program_.lines = divided(program_.lines, lines_per_warp) * lines_per_warp;
    const std::int64_t rows = parities * (shape.is_by_parts ? 2 : 1) * program_.ranks;
    scratch_ = PeerBlocks(parts.context, parts.executor, all_ranks(parts),
                          static_cast<std::size_t>(rows * program_.lines * shape.line_bytes), construction);
    for (int rank = 0; rank < program_.ranks; ++rank) program_.scratch[rank] = scratch_.of(rank);
    set_grid(program_.lines * shape.lanes);
    load();
  }

 private:
  PeerBlocks scratch_;
};

/// Between ranks that store into each other's elements.
class BetweenElements final : public DeviceAllreduce {
 public:
  /// \param pushes  whether elements go through scratch, chunk by chunk, instead of being loaded by peers
  BetweenElements(const AllreduceParts& parts, AllreduceKernel kernel, bool pushes)
      : DeviceAllreduce(parts, kernel), elements_(parts.elements.data) {
    const auto all = static_cast<std::size_t>(bytes());
    const std::vector<int> ranks = all_ranks(parts);
    views_ = PeerBlocks(parts.context, parts.elements.data, ranks, all, MemoryKind::device, construction);
    if (views_.empty()) {
      views_ = PeerBlocks(parts.context, parts.executor, ranks, all, construction);
      copied_bytes_ = all;
    }
    // Loads fill the links with fewer blocks than stores do.
    constexpr int most_loading_blocks = 64;
    const int most = pushes ? most_blocks_ : std::min(most_blocks_, most_loading_blocks);
    const std::int64_t packs_per_thread = pushes ? 1 : 2;
    const std::int64_t packs = divided(bytes(), pack_bytes * program_.ranks);
    program_.threads = most_allreduce_threads;
    program_.blocks = static_cast<int>(
        std::clamp<std::int64_t>(divided(packs, packs_per_thread * program_.threads), 1, most));
    const std::size_t flags = static_cast<std::size_t>(program_.blocks * program_.ranks);
    flags_ = PeerBlocks(parts.context, parts.executor, ranks, 2 * flags * sizeof(Flag), construction);
    if (pushes)
      scratch_ = PeerBlocks(parts.context, parts.executor, ranks,
                            flags * static_cast<std::size_t>(push_slots * push_chunk_bytes), construction);
    program_.is_aligned = true;
    for (int rank = 0; rank < program_.ranks; ++rank) {
      program_.elements[rank] = views_.of(rank);
      program_.is_aligned = program_.is_aligned && is_aligned(views_.of(rank));
      program_.arrived[rank] = reinterpret_cast<Flag*>(flags_.of(rank));
      program_.done[rank] = program_.arrived[rank] + flags;
      if (pushes) program_.scratch[rank] = scratch_.of(rank);
    }
    load();
  }

  /// Elements that peers can't map pass through memory that they can.
  void start(Executor& executor) override {
    const auto stream = static_cast<cudaStream_t>(executor.stream());
    copy(views_.of(program_.rank), elements_, stream);
    kernel_.launch(program_, stream);
    copy(elements_, views_.of(program_.rank), stream);
  }

 private:
  void copy(std::byte* to, const std::byte* from, cudaStream_t stream) const {
    if (copied_bytes_ == 0) return;
    check_cuda(cudaMemcpyAsync(to, from, copied_bytes_, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  }

  std::byte* elements_;
  PeerBlocks flags_;
  PeerBlocks scratch_;
  PeerBlocks views_;
  std::size_t copied_bytes_ = 0;  ///< 0 where peers map the elements themselves
};

constexpr ThroughScratch::Shape ll{
    .line_bytes = ll_packet_bytes, .line_words = ll_packet_words, .lanes = 1, .is_by_parts = false};
constexpr ThroughScratch::Shape ll128{
    .line_bytes = ll128_line_bytes, .line_words = ll128_line_words, .lanes = 8, .is_by_parts = false};
constexpr ThroughScratch::Shape ll128_by_parts{
    .line_bytes = ll128_line_bytes, .line_words = ll128_line_words, .lanes = 8, .is_by_parts = true};

}  // namespace

std::unique_ptr<AllreduceRunner> make_device_one_shot(const AllreduceParts& parts) {
  return std::make_unique<ThroughScratch>(parts, one_shot_ll_kernel(), ll);
}
std::unique_ptr<AllreduceRunner> make_one_shot_ll128(const AllreduceParts& parts) {
  return std::make_unique<ThroughScratch>(parts, one_shot_ll128_kernel(), ll128);
}
std::unique_ptr<AllreduceRunner> make_two_shot_ll128(const AllreduceParts& parts) {
  return std::make_unique<ThroughScratch>(parts, two_shot_ll128_kernel(), ll128_by_parts);
}
std::unique_ptr<AllreduceRunner> make_device_two_shot(const AllreduceParts& parts) {
  return std::make_unique<BetweenElements>(parts, two_shot_kernel(), false);
}
std::unique_ptr<AllreduceRunner> make_two_shot_push(const AllreduceParts& parts) {
  return std::make_unique<BetweenElements>(parts, two_shot_push_kernel(), true);
}

}  // namespace selvage::detail
