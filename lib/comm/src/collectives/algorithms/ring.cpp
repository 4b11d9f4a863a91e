#include "ring.hpp"

#include "levels.hpp"
#include "pending_messages.hpp"

#include <array>
#include <utility>

namespace selvage::detail {
namespace {

class Ring final : public GroupCollective {
 public:
  explicit Ring(const GroupParts& parts)
      : parts_(parts),
        place_(parts.place),
        incoming_(allocate_part()),
        outgoing_(allocate_part()),
        messages_(parts.context, parts.memory, parts.tag) {}

  bool combine(const std::byte* values, std::int64_t count) override {
    if (steps_ == 0) {
      add_to(outgoing_, values, part(-1, count), true);
      pass_on(-1, count);
    }
    for (;;) {
      if (!messages_.are_done()) return false;
      // The rank before has sent its combined values of the part before this rank's.
      add_to(incoming_, values, part(-steps_ - 1, count), false);
      std::swap(incoming_, outgoing_);
      if (steps_ == size() - 1) break;
      pass_on(-steps_ - 1, count);
    }
    steps_ = 0;
    return true;
  }

  [[nodiscard]] Part held(std::int64_t count) const override { return part(0, count); }
  [[nodiscard]] const std::byte* combined() const override { return outgoing_; }

  bool share(std::byte* elements, std::int64_t count) override {
    if (!messages_.are_done()) return false;
    while (steps_ < size() - 1) {
      const Part outgoing = part(-steps_, count);
      const Part incoming = part(-steps_ - 1, count);
      const auto width = static_cast<std::int64_t>(element_bytes(parts_.elements));
      messages_.receive(elements + incoming.begin * width, incoming.count * width, before());
      messages_.send(elements + outgoing.begin * width, outgoing.count * width, after());
      ++steps_;
      if (!messages_.are_done()) return false;
    }
    steps_ = 0;
    return true;
  }

  [[nodiscard]] std::string describe_late() const override { return messages_.describe("its part"); }
  [[nodiscard]] std::int64_t bytes_between_hosts() const override { return messages_.bytes_between_hosts(); }

 private:
  [[nodiscard]] int size() const { return parts_.size(); }
  [[nodiscard]] int before() const { return parts_.rank((place_ + size() - 1) % size()); }
  [[nodiscard]] int after() const { return parts_.rank((place_ + 1) % size()); }
  /// The part of the rank at some distance, which may be negative.
  [[nodiscard]] Part part(int distance, std::int64_t count) const {
    const int of = (place_ + distance + 2 * size()) % size();
    return part_of(count, of, size());
  }
  [[nodiscard]] std::byte* allocate_part() const {
    return parts_.memory.allocate(most_part_of(parts_.most_count, size()) * accumulator_bytes(parts_.values));
  }
  void add_to(std::byte* combined, const std::byte* values, const Part& part, bool is_first) const {
    const std::byte* const own =
        values + part.begin * static_cast<std::int64_t>(element_bytes(parts_.values));
    fold_on(parts_.values, parts_.operation, std::array{own}, is_first, combined, part.count);
  }
  /// Sends the combined values of one part, and receives those of the part before it.
  void pass_on(int distance, std::int64_t count) {
    const auto width = static_cast<std::int64_t>(accumulator_bytes(parts_.values));
    messages_.receive(incoming_, part(distance - 1, count).count * width, before());
    messages_.send(outgoing_, part(distance, count).count * width, after());
    ++steps_;
  }

  GroupParts parts_;
  int place_;
  std::byte* incoming_;  ///< accumulators of a part
  std::byte* outgoing_;
  PendingMessages messages_;
  int steps_ = 0;  ///< made
};

}  // namespace

std::unique_ptr<GroupCollective> make_ring_group(const GroupParts& parts) {
  return std::make_unique<Ring>(parts);
}

std::unique_ptr<AllreduceRunner> make_ring(const AllreduceParts& parts) {
  // A message's length must fit MPI's int, and memory stay bounded.
  constexpr std::int64_t most_chunk_bytes = 64 * 1024 * 1024;
  return make_flat(parts, AllreduceAlgorithm::ring, {.chunk_bytes = most_chunk_bytes});
}
std::unique_ptr<AllreduceRunner> make_segmented_ring(const AllreduceParts& parts) {
  constexpr std::int64_t segment_bytes = 1024 * 1024;
  return make_flat(parts, AllreduceAlgorithm::ring, {.chunk_bytes = segment_bytes, .lanes = 4});
}

}  // namespace selvage::detail
