#include "hierarchical.hpp"

#include "fold.hpp"
#include "levels.hpp"
#include "pending_messages.hpp"
#include "stepwise.hpp"

#include <selvage/topo/machine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace selvage::detail {
namespace {

/// Bytes of a segment: long enough for the network, short enough that hosts work on several at the same time.
constexpr std::int64_t most_slot_bytes = 1024 * 1024;

std::vector<int> own_host(const AllreduceParts& parts) {
  const topo::Machine& machine = parts.context.machine();
  return machine.ranks_of_host(machine.host_of(parts.context.rank()));
}

/// The number of ranks of each host that lead, each for a part.
int leaders_of(const topo::Machine& machine) {
  std::size_t fewest = machine.ranks_of_host(0).size();
  for (int host = 1; host < machine.host_count(); ++host)
    fewest = std::min(fewest, machine.ranks_of_host(host).size());
  return static_cast<int>(fewest);
}

class Hierarchical final : public Stepwise {
 public:
  Hierarchical(const AllreduceParts& parts, std::int64_t slot_elements)
      : Stepwise(
            parts, own_host(parts),
            {.memory_bytes = 2 * static_cast<std::size_t>(slot_elements) * element_bytes(parts.elements.type),
             .elements = parts.elements.count,
             .segment_elements = slot_elements,
             .stages = 3,
             .lead = 3,
             .waits_at_end = false}),
        machine_(parts.context.machine()),
        host_(machine_.host_of(parts.context.rank())),
        leaders_(leaders_of(machine_)),
        slot_bytes_(static_cast<std::int64_t>(slot_elements * static_cast<std::int64_t>(width()))),
        accumulator_bytes_(static_cast<std::int64_t>(accumulator_bytes(parts.elements.type))),
        combined_(memory_of_messages_.allocate(static_cast<std::size_t>(slot_elements * accumulator_bytes_))),
        inputs_(static_cast<std::size_t>(size())),
        messages_(parts.context, memory_of_messages_, parts.first_tag) {}

  [[nodiscard]] std::int64_t bytes_between_hosts() const override { return messages_.bytes_between_hosts(); }

 private:
  enum Tag { combined_tag, result_tag };
  /// The next step of a leader for a segment.
  enum class Stage { asking, combining, concluding };

  /// The stages: publish the own elements, lead for the own part, read the parts of all leaders.
  bool make(std::uint64_t stage, const Segment& segment) override {
    const std::int64_t slot = static_cast<std::int64_t>(segment.number % 2) * slot_bytes_;
    if (stage == 0) {
      std::memcpy(memory(place()) + slot, element(segment.begin),
                  static_cast<std::size_t>(bytes(segment.count)));
      return true;
    }
    if (stage == 1) return place() >= leaders_ || lead(slot, part_of(segment.count, place(), leaders_));
    for (int leader = 0; leader < leaders_; ++leader) {
      const Part part = part_of(segment.count, leader, leaders_);
      std::memcpy(element(segment.begin + part.begin), memory(leader) + slot + bytes(part.begin),
                  static_cast<std::size_t>(bytes(part.count)));
    }
    return true;
  }
  [[nodiscard]] std::string describe_awaited() const override {
    return messages_.describe(stage_ == Stage::concluding && !is_last_host() ? "the result"
                                                                             : "the hosts before it");
  }

  /// \return false while messages are under way
  bool lead(std::int64_t slot, const Part& part) {
    std::byte* const result = memory(place()) + slot + bytes(part.begin);
    if (stage_ == Stage::asking) {
      if (host_ > 0)
        messages_.receive(combined_, part.count * accumulator_bytes_, leader_on(host_ - 1), combined_tag);
      stage_ = Stage::combining;
    }
    if (stage_ == Stage::combining) {
      if (!messages_.are_done()) return false;
      combine(slot, part, result);
      stage_ = Stage::concluding;
    }
    if (!messages_.are_done()) return false;
    stage_ = Stage::asking;
    return true;
  }

  /// Adds the elements of this host, and sends the sum to the host that needs it next.
  void combine(std::int64_t slot, const Part& part, std::byte* result) {
    for (int r = 0; r < size(); ++r)
      inputs_[static_cast<std::size_t>(r)] = memory(r) + slot + bytes(part.begin);
    fold_on(parts().elements.type, parts().operation, inputs_, host_ == 0, combined_, part.count);
    if (!is_last_host()) {
      send(combined_, part.count * accumulator_bytes_, host_ + 1, combined_tag);
      messages_.receive(result, bytes(part.count), leader_on(machine_.host_count() - 1), result_tag);
      return;
    }
    conclude_fold(parts().elements.type, parts().operation, parts().context.size(), combined_, result,
                  part.count);
    for (int host = 0; host < host_; ++host) send(result, bytes(part.count), host, result_tag);
  }

  void send(const std::byte* from, std::int64_t message_bytes, int host, Tag tag) {
    messages_.send(from, message_bytes, leader_on(host), tag);
  }

  [[nodiscard]] int leader_on(int host) const {
    return machine_.ranks_of_host(host)[static_cast<std::size_t>(place())];
  }
  [[nodiscard]] bool is_last_host() const { return host_ + 1 == machine_.host_count(); }
  [[nodiscard]] std::int64_t bytes(std::int64_t count) const {
    return count * static_cast<std::int64_t>(width());
  }

  const topo::Machine& machine_;
  int host_;
  int leaders_;
  std::int64_t slot_bytes_;
  std::int64_t accumulator_bytes_;
  MessageMemory memory_of_messages_;
  std::byte* combined_;  ///< of this leader's part, by the hosts up to here
  std::vector<const std::byte*> inputs_;
  PendingMessages messages_;
  Stage stage_ = Stage::asking;
};

}  // namespace

std::unique_ptr<AllreduceRunner> make_hierarchical(const AllreduceParts& parts) {
  const topo::Machine& machine = parts.context.machine();
  if (parts.outer == AllreduceAlgorithm::two_shot)
    return make_levels_on_device(parts, device_groups(parts.group_size, first_ranks_of_gpus(machine)),
                                 parts.outer, {.chunk_bytes = whole_chunk_bytes});
  if (!parts.executor.runs_on_host())
    return make_levels_on_device(parts, ranks_by_host(parts), parts.outer,
                                 parts.outer ? LevelShape{.chunk_bytes = whole_chunk_bytes} : staged_chunks);
  if (parts.inner && parts.outer)
    return make_levels(parts, ranks_by_host(parts), *parts.inner, *parts.outer,
                       {.chunk_bytes = most_slot_bytes, .lanes = 2});
  const auto width = static_cast<std::int64_t>(element_bytes(parts.elements.type));
  return std::make_unique<Hierarchical>(
      parts, std::clamp<std::int64_t>(parts.elements.count, 1, most_slot_bytes / width));
}

std::string refuse_hierarchy(const topo::Machine& machine) {
  int next = 0;
  for (int host = 0; host < machine.host_count(); ++host) {
    for (const int rank : machine.ranks_of_host(host)) {
      if (rank != next++)
        return fmt::format(
            "ranks of host {} don't follow each other, so that hosts can't combine in rank order", host);
    }
  }
  return {};
}

}  // namespace selvage::detail
