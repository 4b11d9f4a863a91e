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

/// What a collective of a group is made from. Ranks of a group are named by their place in it.
struct GroupParts {
  ContextState& context;
  MessageMemory& memory;   ///< outlives the collective
  std::vector<int> group;  ///< ranks, this one among them
  int place;               ///< of this rank
  ElementType values;      ///< what is combined: elements, or accumulators of them
  ElementType elements;    ///< of the result
  ReduceOperation operation;
  std::int64_t most_count;  ///< of elements at a time
  int tag;                  ///< of all its messages, which come in one order between two ranks

  [[nodiscard]] int size() const { return static_cast<int>(group.size()); }
  [[nodiscard]] int rank(int of) const { return group[static_cast<std::size_t>(of)]; }
  [[nodiscard]] ElementType accumulators() const { return accumulator_type(values); }
};

/// One level of a reduction: a group combines values, and gives results to its ranks. In between a level above may go
/// on with what was combined. All calls poll: false says that they wait for another rank, and are to be repeated.
class GroupCollective {
 public:
  GroupCollective() = default;
  GroupCollective(const GroupCollective&) = delete;
  GroupCollective& operator=(const GroupCollective&) = delete;
  virtual ~GroupCollective() = default;

  /// Combines every rank's `values`; afterwards each rank holds a part, or nothing.
  [[nodiscard]] virtual bool combine(const std::byte* values, std::int64_t count) = 0;
  [[nodiscard]] virtual Part held(std::int64_t count) const = 0;
  /// The accumulators of that part, until share().
  [[nodiscard]] virtual const std::byte* combined() const = 0;
  /// Gives the results in the parts that ranks hold to all. Returns when `elements` may be used again.
  [[nodiscard]] virtual bool share(std::byte* elements, std::int64_t count) = 0;
  /// Whom the last call that returned false waits for.
  [[nodiscard]] virtual std::string describe_late() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_between_hosts() const { return 0; }
};

}  // namespace selvage::detail
