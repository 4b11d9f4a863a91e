#include "collectives/algorithms/device_allreduce.hpp"
#include "collectives/algorithms/fold.hpp"
#include "collectives/algorithms/host_barrier.hpp"
#include "collectives/algorithms/part.hpp"
#include "device_collective.hpp"
#include "gpu/cuda/stream.hpp"
#include "outer_level.hpp"

#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace selvage::detail {
namespace {

/// What chunk after chunk passes through, on a stream of its own.
class DeviceLane final : private DeviceProgram {
 public:
  /// Collective over the context.
  DeviceLane(const AllreduceParts& parts, const PeerBlocks& views, const DeviceLevels& levels,
             std::int64_t most_count, int lane)
      : DeviceProgram(parts, combine_part_kernel(), levels.group), all_(program_) {
    program_.count = most_count;
    // A group that no host waits for has one lane.
    const bool has_one_lane = levels.outer == AllreduceAlgorithm::two_shot;
    set_grid_of(has_one_lane ? by_loads : Shape{.most_blocks = most_lane_blocks, .packs_per_thread = 2});
    program_.is_aligned = true;
    for (int place = 0; place < program_.ranks; ++place) {
      program_.elements[place] = views.of(place);
      program_.is_aligned = program_.is_aligned && is_aligned(views.of(place));
    }
    const ElementType type = accumulator_type(program_.type);
    const auto most_part = static_cast<std::int64_t>(most_part_of(most_count, program_.ranks));
    outer_ =
        make_outer_level(parts, levels.outer,
                         {levels.outer_group, type, program_.operation, most_part, parts.first_tag + lane});
    program_.partial = outer_->values();
    if (program_.partial == nullptr) {
      partial_ = parts.executor.allocate(static_cast<std::size_t>(most_part) * element_bytes(type));
      program_.partial = partial_.data;
    }
    program_.continues = outer_->continues();
    program_.meets = outer_->is_enqueued();
    if (program_.meets) make_flags(parts);
    all_ = program_;
    load();
    give_part_kernel().load(program_);
  }

  [[nodiscard]] const SideStream& stream() const { return stream_; }
  [[nodiscard]] bool is_enqueued() const { return outer_->is_enqueued(); }
  [[nodiscard]] bool is_idle() const { return is_idle_; }
  /// Whether what the stream has been given is done.
  [[nodiscard]] bool is_given() const { return given_.is_done(); }
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  void enter(std::int64_t begin, std::int64_t count) {
    begin_ = begin;
    is_idle_ = false;
    program_ = all_;
    program_.count = count;
    for (int place = 0; place < program_.ranks; ++place) program_.elements[place] += begin * width();
    part_count_ = part_of(count, program_.rank, program_.ranks).count;
    is_combined_ = false;
    combine();
  }
  [[nodiscard]] bool progress() {
    combine();
    if (!is_combined_ || !outer_->progress()) return false;
    give_part_kernel().launch(program_, stream_.get());
    if (!program_.meets) given_.record(stream_.get());
    is_idle_ = true;
    return true;
  }
  [[nodiscard]] std::string describe_late() const { return outer_->describe_late(); }
  [[nodiscard]] std::int64_t bytes_between_hosts() const { return outer_->bytes_between_hosts(); }
  void check() const {
    throw_if_late();
    outer_->check();
  }

 private:
  /// Lanes run beside each other.
  static constexpr int most_lane_blocks = 32;
  [[nodiscard]] std::int64_t width() const { return static_cast<std::int64_t>(element_bytes(program_.type)); }
  void make_flags(const AllreduceParts& parts) {
    const auto flags = static_cast<std::size_t>(program_.blocks * program_.ranks);
    flags_ =
        PeerBlocks(parts.context, parts.executor, group_, 2 * flags * sizeof(Flag), collective_construction);
    for (int place = 0; place < program_.ranks; ++place) {
      program_.arrived[place] = reinterpret_cast<Flag*>(flags_.of(place));
      program_.done[place] = program_.arrived[place] + flags;
    }
  }
  /// As soon as what the kernel goes on from is on its way.
  void combine() {
    if (is_combined_ || !outer_->precede(program_.partial, part_count_, stream_.get())) return;
    kernel_.launch(program_, stream_.get());
    outer_->start(program_.partial, part_count_, stream_.get());
    is_combined_ = true;
  }

  AllreduceProgram all_;  ///< before a chunk is chosen
  PeerBlocks flags_;
  Buffer partial_;
  std::unique_ptr<OuterLevel> outer_;
  SideStream stream_;
  Event given_{cudaEventDisableTiming};
  std::int64_t begin_ = 0;
  std::int64_t part_count_ = 0;  ///< elements of this rank's part of the chunk
  bool is_combined_ = false;     ///< by the group: the stream has been given that
  bool is_idle_ = true;
};

/// Chunk c passes through lane c modulo lanes: while one is between groups, others are inside them.
///
/// Where chunks wait for messages, ranks launch kernels in an order of their own, and of several such reductions at a time.
/// Then no kernel waits for another rank's, which might be behind one that waits for this rank's: the host waits until all
/// ranks' elements are there, and until all have given theirs.
class LevelsOnDevice final : public AllreduceRunner {
 public:
  [[nodiscard]] std::string remark() const override { return copied_bytes_ == 0 ? "" : copies_views(); }
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
    if (!lanes_.empty() && !lanes_.front().is_enqueued())
      meeting_.emplace(parts.context, levels.group, parts.context.rank(), parts.first_tag);
  }

  void start(Executor& executor) override {
    stream_ = static_cast<cudaStream_t>(executor.stream());
    copy(own_, elements_.data);
    for (const DeviceLane& lane : lanes_) lane.stream().fork(stream_);
    stage_ = Stage::arriving;
    if (meeting_) {
      arrived_.record(stream_);
    } else {
      enter_lanes();
    }
  }
  bool progress(Executor& /*executor*/) override {
    if (stage_ == Stage::arriving) {
      if (!arrived_.is_done() || !meeting_->meet()) return false;
      enter_lanes();
    }
    if (stage_ == Stage::combining) {
      if (!pass_lanes()) {
        check();
        return false;
      }
      stage_ = Stage::leaving;
    }
    if (meeting_ && !(is_given() && meeting_->meet())) return false;
    for (const DeviceLane& lane : lanes_) lane.stream().join(stream_);
    copy(elements_.data, own_);
    return true;
  }
  void check() const override {
    for (const DeviceLane& lane : lanes_) lane.check();
  }
  [[nodiscard]] std::string describe_late() const override {
    if (stage_ == Stage::arriving && !arrived_.is_done()) return "kernels that come before it";
    if (stage_ == Stage::arriving) return meeting_->describe_late("elements");
    if (stage_ == Stage::leaving && !is_given()) return "kernels that give this rank's part to its host's";
    if (stage_ == Stage::leaving) return meeting_->describe_late("their part of the result");
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
  enum class Stage { arriving, combining, leaving };
  /// Whether the lanes' streams have done all that they were given.
  [[nodiscard]] bool is_given() const { return std::ranges::all_of(lanes_, &DeviceLane::is_given); }
  void enter_lanes() {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      enter(lanes_[lane], static_cast<std::int64_t>(lane) * chunk_elements_);
    stage_ = Stage::combining;
  }
  /// Polls. \return whether the lanes' streams have been given all
  [[nodiscard]] bool pass_lanes() {
    bool all_done = true;
    for (DeviceLane& lane : lanes_) {
      while (!lane.is_idle() && lane.progress())
        enter(lane, lane.begin() + static_cast<std::int64_t>(lanes_.size()) * chunk_elements_);
      all_done = all_done && lane.is_idle();
    }
    return all_done;
  }
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
  std::optional<HostBarrier> meeting_;     ///< none where kernels meet
  Event arrived_{cudaEventDisableTiming};  ///< behind what fills this rank's elements
  Stage stage_ = Stage::arriving;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_device_levels(const AllreduceParts& parts, const DeviceLevels& levels) {
  return std::make_unique<LevelsOnDevice>(parts, levels);
}

}  // namespace selvage::detail
