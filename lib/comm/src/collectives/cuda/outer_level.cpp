#include "outer_level.hpp"

#include "collectives/algorithms/group_collectives.hpp"
#include "collectives/algorithms/message_memory.hpp"
#include "collectives/algorithms/pending_messages.hpp"
#include "device_collective.hpp"
#include "gpu/cuda/stream.hpp"
#include "nccl_library.hpp"
#include "runtime/context_state.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace selvage::detail {
namespace {

class OuterNccl final : public OuterLevel {
 public:
  OuterNccl(ContextState& context, const OuterParts& parts)
      : parts_(parts), nccl_(nccl_group(context, parts.group)) {}
  void start(std::byte* values, std::int64_t count, cudaStream_t stream) override {
    nccl_.allreduce(values, count, parts_.type, parts_.operation, stream);
  }
  [[nodiscard]] bool is_enqueued() const override { return true; }
  [[nodiscard]] bool progress() override { return true; }
  [[nodiscard]] std::string describe_late() const override { return "NCCL"; }

 private:
  OuterParts parts_;
  NcclGroup& nccl_;
};

/// In the memory of the ranks of the same place, which map each other's.
class OuterTwoShot final : public OuterLevel, private DeviceProgram {
 public:
  OuterTwoShot(const AllreduceParts& parts, const OuterParts& outer)
      : DeviceProgram(parts, two_shot_kernel(), outer.group) {
    program_.type = outer.type;
    // The last level divides.
    if (outer.operation == ReduceOperation::average) program_.operation = ReduceOperation::sum;
    program_.count = outer.most_count;
    set_grid_of(by_loads);
    const std::size_t flags = static_cast<std::size_t>(program_.blocks * program_.ranks);
    values_ = PeerBlocks(parts.context, parts.executor, group_, static_cast<std::size_t>(bytes()),
                         collective_construction);
    flags_ =
        PeerBlocks(parts.context, parts.executor, group_, 2 * flags * sizeof(Flag), collective_construction);
    for (int place = 0; place < program_.ranks; ++place) {
      program_.elements[place] = values_.of(place);
      program_.arrived[place] = reinterpret_cast<Flag*>(flags_.of(place));
      program_.done[place] = program_.arrived[place] + flags;
    }
    program_.is_aligned = true;
    load();
  }

  [[nodiscard]] bool is_enqueued() const override { return true; }
  [[nodiscard]] std::byte* values() const override { return values_.of(program_.rank); }
  void start(std::byte* /*values*/, std::int64_t count, cudaStream_t stream) override {
    program_.count = count;
    kernel_.launch(program_, stream);
  }
  [[nodiscard]] bool progress() override { return true; }
  [[nodiscard]] std::string describe_late() const override { return "a kernel to be enqueued"; }
  void check() const override { throw_if_late(); }

 private:
  PeerBlocks values_;
  PeerBlocks flags_;
};

/// By messages, through host memory.
class OuterMessages final : public OuterLevel {
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

/// Group after group: each goes on from what came from the group before, and the last one's accumulators are the result,
/// which it sends to all. By messages, through host memory: a chunk's copies out of it are over when what came of it has
/// been copied in, so that the next chunk's messages may overwrite it.
class OuterChain final : public OuterLevel {
 public:
  OuterChain(const AllreduceParts& parts, const OuterParts& outer)
      : group_(outer.group),
        place_(static_cast<std::size_t>(std::ranges::find(group_, parts.context.rank()) - group_.begin())),
        width_(static_cast<std::int64_t>(element_bytes(outer.type))),
        combined_(allocate(parts, outer)),
        result_(allocate(parts, outer)),
        messages_(parts.context, memory_, outer.tag) {}

  [[nodiscard]] bool continues() const override { return place_ > 0; }
  bool precede(std::byte* values, std::int64_t count, cudaStream_t stream) override {
    if (place_ == 0) return true;
    if (stage_ == Stage::idle) {
      messages_.receive(combined_, count * width_, group_[place_ - 1]);
      stage_ = Stage::awaiting_combined;
    }
    if (!messages_.are_done()) return false;
    copy(values, combined_, count, stream, cudaMemcpyHostToDevice);
    return true;
  }
  void start(std::byte* values, std::int64_t count, cudaStream_t stream) override {
    values_ = values;
    count_ = count;
    stream_ = stream;
    copy(combined_, values, count, stream, cudaMemcpyDeviceToHost);
    staged_.record(stream);
    stage_ = Stage::combining;
  }
  [[nodiscard]] bool progress() override {
    if (stage_ == Stage::combining) {
      if (!staged_.is_done()) return false;
      pass_on();
      stage_ = Stage::awaiting_result;
    }
    if (!messages_.are_done()) return false;
    if (!is_last()) copy(values_, result_, count_, stream_, cudaMemcpyHostToDevice);
    stage_ = Stage::idle;
    return true;
  }
  [[nodiscard]] std::string describe_late() const override {
    if (stage_ == Stage::combining || messages_.empty())
      return "kernels that combine what this host's ranks hold";
    return messages_.describe(stage_ == Stage::awaiting_result && !is_last() ? "the result"
                                                                             : "the hosts before it");
  }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override { return messages_.bytes_between_hosts(); }

 private:
  enum class Stage { idle, awaiting_combined, combining, awaiting_result };

  std::byte* allocate(const AllreduceParts& parts, const OuterParts& outer) {
    Buffer staging = parts.executor.allocate_staging(static_cast<std::size_t>(outer.most_count * width_));
    memory_.keep(std::move(staging.owner));
    return staging.data;
  }
  [[nodiscard]] bool is_last() const { return place_ + 1 == group_.size(); }
  void pass_on() {
    const std::int64_t bytes = count_ * width_;
    if (!is_last()) {
      messages_.send(combined_, bytes, group_[place_ + 1]);
      messages_.receive(result_, bytes, group_.back());
      return;
    }
    for (std::size_t other = 0; other < place_; ++other) messages_.send(combined_, bytes, group_[other]);
  }
  void copy(std::byte* to, const std::byte* from, std::int64_t count, cudaStream_t stream,
            cudaMemcpyKind kind) const {
    check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count * width_), kind, stream),
               "cudaMemcpyAsync");
  }

  std::vector<int> group_;
  std::size_t place_;
  std::int64_t width_;
  MessageMemory memory_;
  std::byte* combined_;  ///< by the groups before this one, then by this one too
  std::byte* result_;
  PendingMessages messages_;
  Event staged_{cudaEventDisableTiming};  ///< behind the copy of what has been combined
  Stage stage_ = Stage::idle;
  std::byte* values_ = nullptr;
  std::int64_t count_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<OuterLevel> make_outer_level(const AllreduceParts& parts,
                                             std::optional<AllreduceAlgorithm> algorithm,
                                             const OuterParts& outer) {
  if (!algorithm) return std::make_unique<OuterChain>(parts, outer);
  if (*algorithm == AllreduceAlgorithm::two_shot) return std::make_unique<OuterTwoShot>(parts, outer);
  if (*algorithm == AllreduceAlgorithm::nccl) return std::make_unique<OuterNccl>(parts.context, outer);
  return std::make_unique<OuterMessages>(parts, outer, *algorithm);
}

}  // namespace selvage::detail
