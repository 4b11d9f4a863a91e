#pragma once

#include "collectives/algorithms/allreduce_algorithm.hpp"

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/elements.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace selvage::detail {

/// What ranks of the same place in their groups do with what these have combined.
class OuterLevel {
 public:
  OuterLevel() = default;
  OuterLevel(const OuterLevel&) = delete;
  OuterLevel& operator=(const OuterLevel&) = delete;
  virtual ~OuterLevel() = default;

  /// Whether progress() never has anything to wait for, so that all may be enqueued at once, and captured.
  [[nodiscard]] virtual bool is_enqueued() const { return false; }
  /// Where the group's accumulators must lie; null: anywhere in this GPU's memory.
  [[nodiscard]] virtual std::byte* values() const { return nullptr; }
  /// Whether the group goes on from what groups before it have combined.
  [[nodiscard]] virtual bool continues() const { return false; }
  /// Polls. \return whether the stream has been given what fills `values` with that
  [[nodiscard]] virtual bool precede(std::byte* /*values*/, std::int64_t /*count*/, cudaStream_t /*stream*/) {
    return true;
  }
  /// \param values  accumulators in GPU memory, combined in place; the stream has been given what fills them
  virtual void start(std::byte* values, std::int64_t count, cudaStream_t stream) = 0;
  /// Polls. \return whether the stream has been given all of it
  [[nodiscard]] virtual bool progress() = 0;
  [[nodiscard]] virtual std::string describe_late() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_between_hosts() const { return 0; }
  /// Throws what a kernel has met.
  virtual void check() const {}
};

/// What kind of values pass from group to group.
struct OuterParts {
  std::vector<int> group;  ///< ranks of the same place, in the groups' order
  ElementType type;
  ReduceOperation operation;
  std::int64_t most_count;
  int tag;
};

/// Collective over the context.
/// \param algorithm  two_shot between ranks that map each other's memory, nccl, or one that goes by messages; none: group after group, in
///                   rank order
[[nodiscard]] std::unique_ptr<OuterLevel> make_outer_level(const AllreduceParts& parts,
                                                           std::optional<AllreduceAlgorithm> algorithm,
                                                           const OuterParts& outer);

}  // namespace selvage::detail
