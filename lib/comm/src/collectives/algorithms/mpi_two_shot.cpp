#include "mpi_two_shot.hpp"

#include "levels.hpp"
#include "mpi_parts.hpp"
#include "pending_messages.hpp"

#include <vector>

namespace selvage::detail {
namespace {

class MpiTwoShot final : public GroupCollective {
 public:
  explicit MpiTwoShot(const GroupParts& parts)
      : parts_(parts),
        received_(parts.memory.allocate(static_cast<std::size_t>(parts.size()) * most_part() *
                                        element_bytes(parts.values))),
        combined_(parts.memory.allocate(most_part() * accumulator_bytes(parts.values))),
        messages_(parts.context, parts.memory, parts.tag) {}

  bool combine(const std::byte* values, std::int64_t count) override {
    if (!is_underway_) scatter(values, count);
    is_underway_ = !messages_.are_done();
    if (is_underway_) return false;
    inputs_.clear();
    for (int place = 0; place < parts_.size(); ++place)
      inputs_.push_back(place == parts_.place ? at(values, held(count)) : received(place, count));
    fold_on(parts_.values, parts_.operation, inputs_, true, combined_, held(count).count);
    return true;
  }

  [[nodiscard]] Part held(std::int64_t count) const override { return part(parts_.place, count); }
  [[nodiscard]] const std::byte* combined() const override { return combined_; }

  bool share(std::byte* elements, std::int64_t count) override {
    if (!is_sharing_) gather(elements, count);
    is_sharing_ = !messages_.are_done();
    return !is_sharing_;
  }

  [[nodiscard]] std::string describe_late() const override {
    return messages_.describe(is_sharing_ ? "results" : "elements");
  }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override { return messages_.bytes_between_hosts(); }

 private:
  [[nodiscard]] std::size_t most_part() const { return most_part_of(parts_.most_count, parts_.size()); }
  [[nodiscard]] Part part(int place, std::int64_t count) const {
    return part_of(count, place, parts_.size());
  }
  [[nodiscard]] std::int64_t value_bytes(std::int64_t count) const {
    return count * static_cast<std::int64_t>(element_bytes(parts_.values));
  }
  [[nodiscard]] const std::byte* at(const std::byte* values, const Part& part) const {
    return values + value_bytes(part.begin);
  }
  /// The memory in which another rank's values of this rank's part arrive.
  [[nodiscard]] std::byte* received(int from, std::int64_t count) const {
    return received_ + from * value_bytes(held(count).count);
  }

  void scatter(const std::byte* values, std::int64_t count) {
    for (int peer = 0; peer < parts_.size(); ++peer) {
      if (peer == parts_.place) continue;
      messages_.receive(received(peer, count), value_bytes(held(count).count), parts_.rank(peer));
      messages_.send(at(values, part(peer, count)), value_bytes(part(peer, count).count), parts_.rank(peer));
    }
  }
  void gather(std::byte* elements, std::int64_t count) {
    const auto width = static_cast<std::int64_t>(element_bytes(parts_.elements));
    for (int peer = 0; peer < parts_.size(); ++peer) {
      if (peer == parts_.place) continue;
      const Part theirs = part(peer, count);
      messages_.receive(elements + theirs.begin * width, theirs.count * width, parts_.rank(peer));
      messages_.send(elements + held(count).begin * width, held(count).count * width, parts_.rank(peer));
    }
  }

  GroupParts parts_;
  std::byte* received_;  ///< of this rank's part, by place
  std::byte* combined_;  ///< accumulators of this rank's part
  std::vector<const std::byte*> inputs_;
  PendingMessages messages_;
  bool is_underway_ = false;
  bool is_sharing_ = false;
};

}  // namespace

std::unique_ptr<GroupCollective> make_mpi_two_shot_group(const GroupParts& parts) {
  return std::make_unique<MpiTwoShot>(parts);
}

std::unique_ptr<AllreduceRunner> make_mpi_two_shot(const AllreduceParts& parts) {
  if (parts.flow.kind != CollectiveKind::allreduce) return make_mpi_parts(parts);
  // A message's length must fit MPI's int, and memory stay bounded.
  constexpr std::int64_t most_chunk_bytes = 64 * 1024 * 1024;
  return make_flat(parts, AllreduceAlgorithm::mpi, {.chunk_bytes = most_chunk_bytes});
}

}  // namespace selvage::detail
