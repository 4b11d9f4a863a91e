#pragma once

#include "allreduce_kernels.hpp"
#include "gpu/cuda/device_memory.hpp"
#include "runtime/context_state.hpp"
#include "runtime/peer_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace selvage::detail {

inline constexpr std::string_view collective_construction = "the construction of a collective";
inline constexpr std::int64_t pack_bytes = 16;

[[nodiscard]] inline std::int64_t divided(std::int64_t work, std::int64_t by) {
  return (work + by - 1) / by;
}

/// What explain() says of Views that have no name for other processes.
[[nodiscard]] inline std::string copies_views() {
  return "copied before and after, because peers can't map the Views' memory";
}

/// What all algorithms keep, and how they say what went wrong.
class DeviceProgram {
 public:
  struct Shape {
    int most_blocks;                 ///< that help
    std::int64_t packs_per_thread;   ///< of a rank's part, for which another block helps
    std::int64_t scratch_bytes = 0;  ///< of a block for each rank
  };

 protected:
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;
  ~DeviceProgram() = default;
  /// Collective over the context.
  /// \param group  the ranks that the kernel knows, by their place in it
  DeviceProgram(const AllreduceParts& parts, AllreduceKernel kernel, std::vector<int> group)
      : kernel_(kernel),
        group_(std::move(group)),
        most_blocks_(smallest_everywhere(parts.context, blocks_allowed(parts.max_blocks))),
        state_(std::vector<AllreduceState>(1)) {
    program_.rank = static_cast<int>(std::ranges::find(group_, parts.context.rank()) - group_.begin());
    program_.ranks = static_cast<int>(group_.size());
    program_.all_ranks = parts.context.size();
    program_.type = parts.elements.type;
    program_.operation = parts.operation;
    program_.count = parts.elements.count;
    program_.source = parts.flow.source(program_.rank);
    for (int rank = 0; rank < program_.ranks; ++rank) {
      const bool has_it = !parts.flow.combines() && rank == program_.source;
      if (parts.flow.gives(program_.rank, rank) && !has_it) program_.receivers |= 1U << rank;
    }
    program_.state = state_.data();
    program_.fault = fault_.get();
    program_.is_chained = kernels_can_chain();
    program_.timeout_ns =
        static_cast<std::uint64_t>(std::chrono::nanoseconds(parts.context.timeout()).count());
  }

  void throw_if_late() const {
    // Acquires what the kernel wrote before it released `kind`.
    if (acquire_word(fault_.get()->kind) == Fault::none) return;
    throw Error(ErrorKind::timeout,
                fmt::format("a kernel waited {} ms for rank {} (operation {} wanted, {} seen)",
                            program_.timeout_ns / 1'000'000, group_[fault_.get()->rank], fault_.get()->wanted,
                            fault_.get()->seen));
  }

  [[nodiscard]] std::int64_t bytes() const {
    return program_.count * static_cast<std::int64_t>(element_bytes(program_.type));
  }
  /// Of the GPU in use.
  [[nodiscard]] static int attribute(cudaDeviceAttr which) {
    int device = 0;
    int value = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
  }
  /// Blocks that all run at the same time.
  [[nodiscard]] static int blocks_allowed(int max_blocks) {
    const int most = std::min(attribute(cudaDevAttrMultiProcessorCount), most_allreduce_blocks);
    return max_blocks == 0 ? most : std::min(max_blocks, most);
  }
  /// Blocks of one number meet, and flags lie by block: GPUs that aren't alike must have as many.
  [[nodiscard]] static int smallest_everywhere(ContextState& context, int value) {
    return context.extremes({value}, collective_construction).front().smallest;
  }
  /// Small blocks start and end sooner, as long as there are enough of them.
  void set_grid(std::int64_t threads) {
    program_.threads = 128;
    while (program_.threads < most_allreduce_threads && divided(threads, program_.threads) > most_blocks_)
      program_.threads *= 2;
    program_.blocks =
        static_cast<int>(std::clamp<std::int64_t>(divided(threads, program_.threads), 1, most_blocks_));
  }
  /// Takes all blocks, with as few threads and passes as possible: a pass in which few threads have work takes as long as a full
  /// one.
  void set_even_grid(std::int64_t threads) {
    constexpr std::int64_t warp = 32;
    constexpr std::int64_t fewest_threads = 2 * warp;
    const std::int64_t passes =
        divided(threads, std::int64_t{most_blocks_} * most_line_threads(program_.ranks));
    const std::int64_t of_block =
        divided(divided(threads, most_blocks_ * std::max(passes, std::int64_t{1})), warp) * warp;
    program_.threads = static_cast<int>(std::max(of_block, fewest_threads));
    program_.blocks =
        static_cast<int>(std::clamp<std::int64_t>(divided(threads, program_.threads), 1, most_blocks_));
  }
  /// For ranks that combine a part of the elements each.
  void set_grid_of(const Shape& shape) {
    const std::int64_t packs = divided(bytes(), pack_bytes * program_.ranks);
    program_.threads = most_allreduce_threads;
    program_.blocks =
        static_cast<int>(std::clamp<std::int64_t>(divided(packs, shape.packs_per_thread * program_.threads),
                                                  1, std::min(most_blocks_, shape.most_blocks)));
  }
  void load() const { kernel_.load(program_); }
  [[nodiscard]] static bool is_aligned(const std::byte* elements) {
    return reinterpret_cast<std::uintptr_t>(elements) % pack_bytes == 0;
  }

  AllreduceProgram program_{};
  AllreduceKernel kernel_;
  std::vector<int> group_;
  int most_blocks_;

 private:
  DeviceArray<AllreduceState> state_;
  PinnedValue<Fault> fault_;
};

/// An algorithm that is one kernel on the caller's instance.
class DeviceAllreduce : public AllreduceRunner, protected DeviceProgram {
 public:
  void start(Executor& executor) override {
    kernel_.launch(program_, static_cast<cudaStream_t>(executor.stream()));
  }
  bool progress(Executor& /*executor*/) final { return true; }
  [[nodiscard]] std::string describe_late() const final { return "a kernel to be enqueued"; }
  void check() const final { throw_if_late(); }

 protected:
  DeviceAllreduce(const AllreduceParts& parts, AllreduceKernel kernel)
      : DeviceProgram(parts, kernel, all_ranks(parts)) {}
};

/// Between ranks that store into each other's elements.
class BetweenElements : public DeviceAllreduce {
 public:
  using Shape = DeviceProgram::Shape;
  BetweenElements(const AllreduceParts& parts, AllreduceKernel kernel, const Shape& shape)
      : DeviceAllreduce(parts, kernel), elements_(parts.elements.data) {
    const auto all = static_cast<std::size_t>(bytes());
    const std::vector<int> ranks = all_ranks(parts);
    views_ = PeerBlocks(parts.context, parts.elements.data, ranks, all, MemoryKind::device,
                        collective_construction);
    if (views_.empty()) {
      views_ = PeerBlocks(parts.context, parts.executor, ranks, all, collective_construction);
      copied_bytes_ = all;
    }
    set_grid_of(shape);
    const std::size_t flags = static_cast<std::size_t>(program_.blocks * program_.ranks);
    flags_ =
        PeerBlocks(parts.context, parts.executor, ranks, 2 * flags * sizeof(Flag), collective_construction);
    if (shape.scratch_bytes > 0)
      scratch_ = PeerBlocks(parts.context, parts.executor, ranks,
                            flags * static_cast<std::size_t>(shape.scratch_bytes), collective_construction);
    program_.is_aligned = true;
    for (int rank = 0; rank < program_.ranks; ++rank) {
      program_.elements[rank] = views_.of(rank);
      program_.is_aligned = program_.is_aligned && is_aligned(views_.of(rank));
      program_.arrived[rank] = reinterpret_cast<Flag*>(flags_.of(rank));
      program_.done[rank] = program_.arrived[rank] + flags;
      if (shape.scratch_bytes > 0) program_.scratch[rank] = scratch_.of(rank);
    }
    load();
  }

  /// Elements that peers can't map pass through memory that they can.
  void start(Executor& executor) final {
    const auto stream = static_cast<cudaStream_t>(executor.stream());
    copy(views_.of(program_.rank), elements_, stream);
    launch(stream);
    copy(elements_, views_.of(program_.rank), stream);
  }
  [[nodiscard]] std::string remark() const final { return copied_bytes_ == 0 ? "" : copies_views(); }

 protected:
  virtual void launch(cudaStream_t stream) { kernel_.launch(program_, stream); }

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

/// Loads fill the links with fewer blocks than stores do.
inline constexpr DeviceProgram::Shape by_loads{.most_blocks = 64, .packs_per_thread = 2};

/// two_shot whose results copy engines give to all. \param brings_elements  whether engines fetch the elements as well
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_engine_allreduce(const AllreduceParts& parts,
                                                                     bool brings_elements);

}  // namespace selvage::detail
