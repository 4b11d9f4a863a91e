#include "mpi_two_shot.hpp"

#include "../context_state.hpp"
#include "fold.hpp"
#include "pending_messages.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

/// At a time, so that a message's length fits MPI's int, and memory stays bounded.
constexpr std::int64_t most_segment_bytes = 64 * 1024 * 1024;

class MpiTwoShot final : public AllreduceRunner {
 public:
  explicit MpiTwoShot(const AllreduceParts& parts)
      : parts_(parts),
        width_(static_cast<std::int64_t>(element_bytes(parts.elements.type))),
        segment_elements_(std::clamp<std::int64_t>(parts.elements.count, 1, most_segment_bytes / width_)),
        on_host_(parts.executor.runs_on_host()),
        messages_(parts.context, parts.first_tag) {
    const Part mine = part_of(segment_elements_, rank(), size(), static_cast<std::size_t>(width_));
    received_.resize(static_cast<std::size_t>((mine.count + alignment) * width_ * size()));
    if (!on_host_)
      staging_ = parts.executor.allocate_staging(static_cast<std::size_t>(segment_elements_ * width_));
  }
  /// MPI may still use the buffers of messages that were given up.
  ~MpiTwoShot() override {
    if (messages_.empty()) return;
    static_cast<void>(new std::vector<std::byte>(std::move(received_)));
    static_cast<void>(new Buffer(std::move(staging_)));
  }

  void start(Executor& executor) override {
    begin_ = 0;
    if (parts_.elements.count > 0) scatter(executor);
  }

  bool progress(Executor& executor) override {
    while (begin_ < parts_.elements.count) {
      if (!messages_.are_done()) return false;
      if (phase_ == Phase::scattering) {
        combine_part();
        gather();
        continue;
      }
      if (!on_host_) executor.stage_in(element(begin_), segment_, bytes(segment_count()));
      begin_ += segment_count();
      if (begin_ < parts_.elements.count) scatter(executor);
    }
    return true;
  }

  [[nodiscard]] std::string describe_late() const override {
    return messages_.describe(phase_ == Phase::scattering ? "elements" : "results");
  }

  [[nodiscard]] std::int64_t bytes_between_hosts() const override { return sent_bytes_; }

 private:
  enum class Phase { scattering, gathering };
  static constexpr std::int64_t alignment = 128;

  [[nodiscard]] int rank() const { return parts_.context.rank(); }
  [[nodiscard]] int size() const { return parts_.context.size(); }
  [[nodiscard]] std::byte* element(std::int64_t index) const { return parts_.elements.data + index * width_; }
  [[nodiscard]] std::size_t bytes(std::int64_t count) const {
    return static_cast<std::size_t>(count * width_);
  }
  [[nodiscard]] std::int64_t segment_count() const {
    return std::min(segment_elements_, parts_.elements.count - begin_);
  }
  [[nodiscard]] Part part(int of) const {
    return part_of(segment_count(), of, size(), static_cast<std::size_t>(width_));
  }
  /// Where a rank's elements of this rank's part arrive.
  [[nodiscard]] std::byte* received(int from) {
    return received_.data() + static_cast<std::int64_t>(from) * part(rank()).count * width_;
  }

  void scatter(Executor& executor) {
    phase_ = Phase::scattering;
    segment_ = element(begin_);
    if (!on_host_) {
      segment_ = staging_.data;
      executor.stage_out(segment_, element(begin_), bytes(segment_count()));
      executor.fence();
    }
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      messages_.receive(received(peer), part(rank()).count * width_, peer, 0);
      send(segment_ + part(peer).begin * width_, part(peer).count * width_, peer, 0);
    }
  }

  void combine_part() {
    inputs_.clear();
    std::byte* const mine = segment_ + part(rank()).begin * width_;
    for (int r = 0; r < size(); ++r) inputs_.push_back(r == rank() ? mine : received(r));
    const std::array<std::byte*, 1> result{mine};
    fold(parts_.elements.type, parts_.operation, inputs_, result, part(rank()).count);
  }

  void gather() {
    phase_ = Phase::gathering;
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      messages_.receive(segment_ + part(peer).begin * width_, part(peer).count * width_, peer, 1);
      send(segment_ + part(rank()).begin * width_, part(rank()).count * width_, peer, 1);
    }
  }

  void send(const std::byte* from, std::int64_t message_bytes, int peer, int tag) {
    messages_.send(from, message_bytes, peer, tag);
    if (!parts_.context.machine().same_host(rank(), peer)) sent_bytes_ += message_bytes;
  }

  AllreduceParts parts_;
  std::int64_t width_;
  std::int64_t segment_elements_;
  bool on_host_;
  std::vector<std::byte> received_;  ///< of this rank's part, by rank
  std::vector<const std::byte*> inputs_;
  Buffer staging_;                ///< of a segment; empty on hosts
  std::byte* segment_ = nullptr;  ///< in host memory
  std::int64_t begin_ = 0;        ///< of the segment under way
  Phase phase_ = Phase::scattering;
  PendingMessages messages_;
  std::int64_t sent_bytes_ = 0;  ///< to other hosts
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_mpi_two_shot(const AllreduceParts& parts) {
  return std::make_unique<MpiTwoShot>(parts);
}

}  // namespace selvage::detail
