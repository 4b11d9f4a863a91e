#pragma once

#include "fold.hpp"
#include "message_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// Arguments for a collective of a group. Ranks are numbered by their position in the group.
struct GroupParts {
  ContextState& context;
  MessageMemory& memory;   ///< outlives the collective
  std::vector<int> group;  ///< ranks, this one among them
  int place;               ///< of this rank
  ElementType values;      ///< what is combined: elements, or accumulators of them
  ElementType elements;    ///< of the result
  ReduceOperation operation;
  std::int64_t most_count;  ///< of elements at a time
  int tag;                  ///< of all its messages, whose order between two ranks is fixed

  [[nodiscard]] int size() const { return static_cast<int>(group.size()); }
  [[nodiscard]] int rank(int of) const { return group[static_cast<std::size_t>(of)]; }
  [[nodiscard]] ElementType accumulators() const { return accumulator_type(values); }
};

/// One level of a reduction: a group combines values, and gives the result to its ranks. Between the two, the level above may combine
/// the values further. All calls poll: they return false while they wait for another rank, and must then be repeated.
class GroupCollective {
 public:
  GroupCollective() = default;
  GroupCollective(const GroupCollective&) = delete;
  GroupCollective& operator=(const GroupCollective&) = delete;
  virtual ~GroupCollective() = default;

  /// Combines every rank's `values`; afterwards each rank holds a part, or nothing.
  [[nodiscard]] virtual bool combine(const std::byte* values, std::int64_t count) = 0;
  [[nodiscard]] virtual Part held(std::int64_t count) const = 0;
  /// The accumulators of that part. Valid until share().
  [[nodiscard]] virtual const std::byte* combined() const = 0;
  /// Gives the result of each part to all ranks. \return true when `elements` may be used again
  [[nodiscard]] virtual bool share(std::byte* elements, std::int64_t count) = 0;
  /// The ranks that the last call that returned false waits for.
  [[nodiscard]] virtual std::string describe_late() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_between_hosts() const { return 0; }
};

}  // namespace selvage::detail
