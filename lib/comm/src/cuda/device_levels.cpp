#include "../allreduces/fold.hpp"
#include "../allreduces/group_collectives.hpp"
#include "../allreduces/part.hpp"
#include "../device_allreduce.hpp"
#include "device_collective.hpp"
#include "nccl_library.hpp"
#include "stream.hpp"

#include <cstring>
#include <deque>
#include <utility>

namespace selvage::detail {
namespace {

/// What ranks of the same place in their groups do with what these have combined.
class Outer {
 public:
  Outer() = default;
  Outer(const Outer&) = delete;
  Outer& operator=(const Outer&) = delete;
  virtual ~Outer() = default;

  /// \param values  accumulators in GPU memory, combined in place; the stream has been given what fills them
  virtual void start(std::byte* values, std::int64_t count, cudaStream_t stream) = 0;
  /// Polls. \return whether the stream has been given all of it
  [[nodiscard]] virtual bool progress() = 0;
  [[nodiscard]] virtual std::string describe_late() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_between_hosts() const { return 0; }
};

/// What kind of values pass from group to group.
struct OuterParts {
  std::vector<int> group;
  ElementType type;
  ReduceOperation operation;
  std::int64_t most_count;
  int tag;
};

class OuterNccl final : public Outer {
 public:
  OuterNccl(ContextState& context, const OuterParts& parts)
      : parts_(parts), nccl_(make_nccl_group(context, parts.group)) {}
  void start(std::byte* values, std::int64_t count, cudaStream_t stream) override {
    nccl_->allreduce(values, count, parts_.type, parts_.operation, stream);
  }
  [[nodiscard]] bool progress() override { return true; }
  [[nodiscard]] std::string describe_late() const override { return "NCCL"; }

 private:
  OuterParts parts_;
  std::shared_ptr<NcclGroup> nccl_;
};

/// By messages, through host memory.
class OuterMessages final : public Outer {
 public:
  OuterMessages(const AllreduceParts& parts, const OuterParts& outer, AllreduceAlgorithm algorithm)
      : width_(static_cast<std::int64_t>(element_bytes(outer.type))) {
    Buffer staging = parts.executor.allocate_staging(static_cast<std::size_t>(outer.most_count * width_));
    staging_ = staging.data;
    memory_.keep(std::move(staging.owner));
    const auto place = std::ranges::find(outer.group, parts.context.rank());
    collective_ = make_group_collective({algorithm, outer.group, false}, parts.executor,
                                        {.context = parts.context,
                                         .memory = memory_,
                                         .group = outer.group,
                                         .place = static_cast<int>(place - outer.group.begin()),
                                         .values = outer.type,
                                         .elements = outer.type,
                                         .operation = outer.operation,
                                         .most_count = outer.most_count,
                                         .tag = outer.tag});
  }

  void start(std::byte* values, std::int64_t count, cudaStream_t stream) override {
    values_ = values;
    count_ = count;
    stream_ = stream;
    copy(staging_, values_, cudaMemcpyDeviceToHost);
    staged_.record(stream_);
    stage_ = Stage::staging;
  }
  [[nodiscard]] bool progress() override {
    if (stage_ == Stage::staging && staged_.is_done()) stage_ = Stage::combining;
    if (stage_ == Stage::combining && collective_->combine(staging_, count_)) {
      const Part held = collective_->held(count_);
      if (held.count > 0)
        std::memcpy(staging_ + held.begin * width_, collective_->combined(),
                    static_cast<std::size_t>(held.count * width_));
      stage_ = Stage::sharing;
    }
    if (stage_ != Stage::sharing || !collective_->share(staging_, count_)) return false;
    copy(values_, staging_, cudaMemcpyHostToDevice);
    stage_ = Stage::done;
    return true;
  }
  [[nodiscard]] std::string describe_late() const override {
    return stage_ == Stage::staging ? "kernels that combine what this host's ranks hold"
                                    : collective_->describe_late();
  }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override {
    return collective_->bytes_between_hosts();
  }

 private:
  enum class Stage { staging, combining, sharing, done };
  void copy(std::byte* to, const std::byte* from, cudaMemcpyKind kind) const {
    check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count_ * width_), kind, stream_),
               "cudaMemcpyAsync");
  }

  std::int64_t width_;
  MessageMemory memory_;
  std::byte* staging_ = nullptr;
  std::unique_ptr<GroupCollective> collective_;
  Event staged_{cudaEventDisableTiming};
  std::byte* values_ = nullptr;
  std::int64_t count_ = 0;
  cudaStream_t stream_ = nullptr;
  Stage stage_ = Stage::done;
};

/// What chunk after chunk passes through, on a stream of its own.
class DeviceLane final : private DeviceProgram {
 public:
  /// Collective over the context.
  DeviceLane(const AllreduceParts& parts, const PeerBlocks& views, const DeviceLevels& levels,
             std::int64_t most_count, int lane)
      : DeviceProgram(parts, combine_part_kernel(), levels.group), all_(program_) {
    const std::int64_t packs = divided(most_count * width(), pack_bytes * program_.ranks);
    program_.threads = most_allreduce_threads;
    program_.blocks = static_cast<int>(std::clamp<std::int64_t>(divided(packs, 2 * program_.threads), 1,
                                                                std::min(most_blocks_, most_lane_blocks)));
    const auto flags = static_cast<std::size_t>(program_.blocks * program_.ranks);
    flags_ =
        PeerBlocks(parts.context, parts.executor, group_, 2 * flags * sizeof(Flag), collective_construction);
    program_.is_aligned = true;
    for (int place = 0; place < program_.ranks; ++place) {
      program_.elements[place] = views.of(place);
      program_.is_aligned = program_.is_aligned && is_aligned(views.of(place));
      program_.arrived[place] = reinterpret_cast<Flag*>(flags_.of(place));
      program_.done[place] = program_.arrived[place] + flags;
    }
    const ElementType type = accumulator_type(program_.type);
    const auto most_part = static_cast<std::int64_t>(most_part_of(most_count, program_.ranks));
    partial_ = parts.executor.allocate(static_cast<std::size_t>(most_part) * element_bytes(type));
    program_.partial = partial_.data;
    all_ = program_;
    const OuterParts outer{levels.outer_group, type, program_.operation, most_part, parts.first_tag + lane};
    if (levels.outer == AllreduceAlgorithm::nccl) {
      outer_ = std::make_unique<OuterNccl>(parts.context, outer);
    } else {
      outer_ = std::make_unique<OuterMessages>(parts, outer, levels.outer);
    }
    load();
    give_part_kernel().load(program_);
  }

  [[nodiscard]] const SideStream& stream() const { return stream_; }
  [[nodiscard]] bool is_idle() const { return is_idle_; }
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  void enter(std::int64_t begin, std::int64_t count) {
    begin_ = begin;
    is_idle_ = false;
    program_ = all_;
    program_.count = count;
    for (int place = 0; place < program_.ranks; ++place) program_.elements[place] += begin * width();
    kernel_.launch(program_, stream_.get());
    const Part part = part_of(count, program_.rank, program_.ranks);
    outer_->start(program_.partial, part.count, stream_.get());
  }
  [[nodiscard]] bool progress() {
    if (!outer_->progress()) return false;
    give_part_kernel().launch(program_, stream_.get());
    is_idle_ = true;
    return true;
  }
  [[nodiscard]] std::string describe_late() const { return outer_->describe_late(); }
  [[nodiscard]] std::int64_t bytes_between_hosts() const { return outer_->bytes_between_hosts(); }
  void check() const { throw_if_late(); }

 private:
  /// Lanes run beside each other.
  static constexpr int most_lane_blocks = 32;
  [[nodiscard]] std::int64_t width() const { return static_cast<std::int64_t>(element_bytes(program_.type)); }

  AllreduceProgram all_;  ///< before a chunk is chosen
  PeerBlocks flags_;
  Buffer partial_;
  std::unique_ptr<Outer> outer_;
  SideStream stream_;
  std::int64_t begin_ = 0;
  bool is_idle_ = true;
};

/// Chunk c passes through lane c modulo lanes: while one is between groups, others are inside them.
class LevelsOnDevice final : public AllreduceRunner {
 public:
  LevelsOnDevice(const AllreduceParts& parts, const DeviceLevels& levels)
      : elements_(parts.elements), width_(static_cast<std::int64_t>(element_bytes(parts.elements.type))) {
    const auto all = static_cast<std::size_t>(elements_.count * width_);
    views_ = PeerBlocks(parts.context, elements_.data, levels.group, all, MemoryKind::device,
                        collective_construction);
    if (views_.empty()) {
      views_ = PeerBlocks(parts.context, parts.executor, levels.group, all, collective_construction);
      copied_bytes_ = all;
    }
    const auto place = std::ranges::find(levels.group, parts.context.rank()) - levels.group.begin();
    own_ = views_.of(static_cast<int>(place));
    constexpr std::int64_t line = 64;
    chunk_elements_ = std::max(line, levels.chunk_bytes / width_ / line * line);
    const std::int64_t chunks = divided(elements_.count, chunk_elements_);
    const std::int64_t most_count = std::min(chunk_elements_, elements_.count);
    for (int lane = 0; lane < std::min<std::int64_t>(levels.lanes, chunks); ++lane)
      lanes_.emplace_back(parts, views_, levels, most_count, lane);
  }

  void start(Executor& executor) override {
    stream_ = static_cast<cudaStream_t>(executor.stream());
    copy(own_, elements_.data);
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      lanes_[lane].stream().fork(stream_);
      enter(lanes_[lane], static_cast<std::int64_t>(lane) * chunk_elements_);
    }
  }
  bool progress(Executor& /*executor*/) override {
    bool all_done = true;
    for (DeviceLane& lane : lanes_) {
      while (!lane.is_idle() && lane.progress())
        enter(lane, lane.begin() + static_cast<std::int64_t>(lanes_.size()) * chunk_elements_);
      all_done = all_done && lane.is_idle();
    }
    if (!all_done) {
      check();
      return false;
    }
    for (const DeviceLane& lane : lanes_) lane.stream().join(stream_);
    copy(elements_.data, own_);
    return true;
  }
  void check() const override {
    for (const DeviceLane& lane : lanes_) lane.check();
  }
  [[nodiscard]] std::string describe_late() const override {
    for (const DeviceLane& lane : lanes_) {
      if (!lane.is_idle()) return lane.describe_late();
    }
    return {};
  }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override {
    std::int64_t bytes = 0;
    for (const DeviceLane& lane : lanes_) bytes += lane.bytes_between_hosts();
    return bytes;
  }

 private:
  void enter(DeviceLane& lane, std::int64_t begin) const {
    const std::int64_t count = std::min(chunk_elements_, elements_.count - begin);
    if (count > 0) lane.enter(begin, count);
  }
  void copy(std::byte* to, const std::byte* from) const {
    if (copied_bytes_ == 0) return;
    check_cuda(cudaMemcpyAsync(to, from, copied_bytes_, cudaMemcpyDeviceToDevice, stream_),
               "cudaMemcpyAsync");
  }

  Elements elements_;
  std::int64_t width_;
  PeerBlocks views_;
  std::byte* own_ = nullptr;
  std::size_t copied_bytes_ = 0;  ///< 0 where peers map the elements themselves
  std::int64_t chunk_elements_ = 0;
  std::deque<DeviceLane> lanes_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_device_levels(const AllreduceParts& parts, const DeviceLevels& levels) {
  return std::make_unique<LevelsOnDevice>(parts, levels);
}

}  // namespace selvage::detail
