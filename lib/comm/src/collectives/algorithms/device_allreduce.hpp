#pragma once

#include "allreduce_algorithm.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace selvage::detail {

/// The arguments of kernels hold one address per rank.
inline constexpr int most_allreduce_ranks = 8;

/// An algorithm by kernels on the caller's instance. start() and progress() only enqueue and never block; captured graphs can be
/// replayed. \throws Error{unsupported} without a GPU backend
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_device_allreduce(AllreduceAlgorithm algorithm,
                                                                     const AllreduceParts& parts);

/// Groups of GPUs that map each other's memory combine by the first half of two_shot. Ranks with the same position in their groups then
/// combine their parts, as accumulators, and groups share the result by the second half of two_shot.
struct DeviceLevels {
  std::vector<int> group;        ///< of this rank; all have the same size
  std::vector<int> outer_group;  ///< the ranks with the same position in all groups
  /// two_shot where all ranks map each other's memory, nccl, or one that uses messages. None: groups combine one after the other, in rank order.
  std::optional<AllreduceAlgorithm> outer;
  std::int64_t chunk_bytes;
  int lanes;  ///< chunks that are underway at the same time; at most allreduce_tags
};
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_device_levels(const AllreduceParts& parts,
                                                                  const DeviceLevels& levels);
/// Why NCCL can't be used; empty where it can.
[[nodiscard]] std::string nccl_refusal();

}  // namespace selvage::detail
