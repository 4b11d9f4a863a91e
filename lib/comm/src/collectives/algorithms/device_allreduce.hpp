#pragma once

#include "allreduce_algorithm.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace selvage::detail {

/// Kernels take an address per rank in their arguments.
inline constexpr int most_allreduce_ranks = 8;

/// The algorithms' forms as kernels on the caller's instance: start() and progress() enqueue, nothing blocks, and a
/// captured graph can be replayed. \throws Error{unsupported} without a GPU backend
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_device_one_shot(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_device_two_shot(const AllreduceParts& parts);
/// Those that there are on GPUs only.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_one_shot_ll128(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_two_shot_ll128(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_two_shot_push(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_two_shot_copy_engine(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_copy_engine(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_multi_ring(const AllreduceParts& parts);

/// Groups of GPUs that map each other's memory combine by two_shot's first half, ranks of the same place in their groups
/// go on with what these hold, as accumulators, and groups share the result by two_shot's second half.
struct DeviceLevels {
  std::vector<int> group;        ///< of this rank; all have the same size
  std::vector<int> outer_group;  ///< the ranks of its place in all groups
  /// nccl, or one that goes by messages; none: each group goes on from what those before it have combined, in rank order.
  std::optional<AllreduceAlgorithm> outer;
  std::int64_t chunk_bytes;
  int lanes;  ///< chunks under way at the same time; at most allreduce_tags
};
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_device_levels(const AllreduceParts& parts,
                                                                  const DeviceLevels& levels);
/// Why there is no NCCL; empty where there is.
[[nodiscard]] std::string nccl_refusal();

}  // namespace selvage::detail
