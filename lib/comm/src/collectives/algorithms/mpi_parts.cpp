#include "mpi_parts.hpp"

#include "fold.hpp"
#include "message_memory.hpp"
#include "pending_messages.hpp"
#include "runtime/context_state.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

/// Works on one slice of each rank's part at a time: the slice is sent to its rank, which combines it and sends the result.
class MpiParts final : public AllreduceRunner {
 public:
  MpiParts(const AllreduceParts& parts, std::int64_t slice_elements)
      : parts_(parts),
        width_(static_cast<std::int64_t>(element_bytes(parts.elements.type))),
        slice_elements_(slice_elements),
        longest_part_(longest_part(parts.elements.count, size())),
        messages_(parts.context, memory_, parts.first_tag) {
    const std::int64_t slice_bytes = slice_elements_ * width_;
    taken_ = memory_.allocate(static_cast<std::size_t>(slice_bytes * (parts.flow.combines() ? size() : 1)));
    result_ = parts.flow.combines() ? memory_.allocate(static_cast<std::size_t>(slice_bytes)) : taken_;
    if (parts.executor.runs_on_host()) return;
    Buffer staging = parts.executor.allocate_staging(static_cast<std::size_t>(parts.elements.count * width_));
    staging_ = staging.data;
    memory_.keep(std::move(staging.owner));
  }

  void start(Executor& executor) override {
    begin_ = 0;
    stage_ = Stage::take;
    stage_out(executor);
    take();
  }

  bool progress(Executor& executor) override {
    while (messages_.are_done()) {
      if (stage_ == Stage::take) {
        combine();
        give();
        stage_ = Stage::give;
        continue;
      }
      begin_ += slice_elements_;
      if (begin_ >= longest_part_) {
        stage_in(executor);
        return true;
      }
      stage_ = Stage::take;
      take();
    }
    return false;
  }

  [[nodiscard]] std::string describe_late() const override {
    return messages_.describe(stage_ == Stage::take ? "elements" : "results");
  }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override { return messages_.bytes_between_hosts(); }

 private:
  enum class Stage { take, give };

  [[nodiscard]] int rank() const { return parts_.context.rank(); }
  [[nodiscard]] int size() const { return parts_.context.size(); }
  [[nodiscard]] Part slice(int worker) const {
    return slice_of(parts_.elements.count, worker, size(), begin_, slice_elements_);
  }
  [[nodiscard]] std::int64_t bytes(const Part& part) const { return part.count * width_; }
  /// The address of an element, in host memory.
  [[nodiscard]] std::byte* element(std::int64_t index) const {
    return (staging_ != nullptr ? staging_ : parts_.elements.data) + index * width_;
  }
  /// The memory in which a rank's slice of this rank's part arrives.
  [[nodiscard]] std::byte* taken(int from) const {
    return parts_.flow.combines() ? taken_ + from * slice_elements_ * width_ : taken_;
  }

  void take() {
    const Part own = slice(rank());
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      const Part theirs = slice(peer);
      if (parts_.flow.takes(rank(), peer)) messages_.receive(taken(peer), bytes(own), peer);
      if (parts_.flow.takes(peer, rank())) messages_.send(element(theirs.begin), bytes(theirs), peer);
    }
    if (parts_.flow.takes(rank(), rank()))
      std::memcpy(taken(rank()), element(own.begin), static_cast<std::size_t>(bytes(own)));
  }
  void combine() {
    if (!parts_.flow.combines()) return;
    std::vector<const std::byte*> inputs;
    for (int peer = 0; peer < size(); ++peer) inputs.push_back(taken(peer));
    const std::array<std::byte*, 1> result{result_};
    fold(parts_.elements.type, parts_.operation, inputs, result, slice(rank()).count);
  }
  void give() {
    const Part own = slice(rank());
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      const Part theirs = slice(peer);
      if (gives(peer, rank())) messages_.receive(element(theirs.begin), bytes(theirs), peer);
      if (gives(rank(), peer)) messages_.send(result_, bytes(own), peer);
    }
    if (gives(rank(), rank())) std::memcpy(element(own.begin), result_, static_cast<std::size_t>(bytes(own)));
  }
  /// A rank that contributes a part unchanged has its result already.
  [[nodiscard]] bool gives(int worker, int to) const {
    return parts_.flow.gives(worker, to) && (parts_.flow.combines() || to != parts_.flow.source(worker));
  }

  /// Calls `move` with the part of each worker to which this rank contributes, or whose result it receives.
  template <class Moves, class Move>
  void for_each_part(const Moves& moves, const Move& move) const {
    for (int worker = 0; worker < size(); ++worker) {
      const Part part = part_of(parts_.elements.count, worker, size());
      if (moves(worker) && part.count > 0) move(part.begin * width_, static_cast<std::size_t>(bytes(part)));
    }
  }
  void stage_out(Executor& executor) const {
    if (staging_ == nullptr) return;
    for_each_part([&](int worker) { return parts_.flow.takes(worker, rank()); },
                  [&](std::int64_t offset, std::size_t bytes) {
                    executor.stage_out(staging_ + offset, parts_.elements.data + offset, bytes);
                  });
    executor.fence();
  }
  void stage_in(Executor& executor) const {
    if (staging_ == nullptr) return;
    for_each_part([&](int worker) { return gives(worker, rank()); },
                  [&](std::int64_t offset, std::size_t bytes) {
                    executor.stage_in(parts_.elements.data + offset, staging_ + offset, bytes);
                  });
  }

  AllreduceParts parts_;
  std::int64_t width_;
  std::int64_t slice_elements_;
  std::int64_t longest_part_;
  MessageMemory memory_;
  std::byte* taken_ = nullptr;    ///< slices of this rank's part, by rank where they are combined
  std::byte* result_ = nullptr;   ///< a slice of this rank's part
  std::byte* staging_ = nullptr;  ///< all elements; null on hosts
  PendingMessages messages_;
  std::int64_t begin_ = 0;  ///< of the slices under way, in the parts
  Stage stage_ = Stage::take;
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_mpi_parts(const AllreduceParts& parts) {
  // Keeps the memory for slices bounded, and the length of a message within MPI's int.
  constexpr std::int64_t most_taken_bytes = 64 * 1024 * 1024;
  const auto width = static_cast<std::int64_t>(element_bytes(parts.elements.type));
  const int ranks = parts.context.size();
  const std::int64_t most = std::max<std::int64_t>(1, most_taken_bytes / width / ranks);
  return std::make_unique<MpiParts>(
      parts, std::clamp<std::int64_t>(longest_part(parts.elements.count, ranks), 1, most));
}

}  // namespace selvage::detail
