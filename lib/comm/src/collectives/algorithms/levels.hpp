#pragma once

#include "allreduce_algorithm.hpp"

#include <selvage/topo/machine.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace selvage::detail {

/// How the elements pass through the levels of a reduction.
struct LevelShape {
  std::int64_t chunk_bytes;  ///< of elements that pass through at a time
  int lanes = 1;             ///< chunks that are underway at the same time; at most allreduce_tags
};

/// For GPUs: large enough to keep the kernels busy, with bounded memory.
inline constexpr std::int64_t whole_chunk_bytes = 256 * 1024 * 1024;
/// For GPUs whose groups communicate through host memory: while one chunk is there, the GPUs work on others.
inline constexpr LevelShape staged_chunks{.chunk_bytes = 4 * 1024 * 1024, .lanes = allreduce_tags};

/// Two levels: each group combines its elements (inner), the first ranks of the groups combine the results (outer), and the final result
/// goes back through the same levels. A level whose groups are single ranks is left out. Chunks pass through the levels independently, so
/// chunks in different lanes may be on different levels. If a chunk takes t1 for the way up, t2 between the first ranks and t3 for the
/// way back, C chunks take t1 + t2 + t3 + (C - 1) max(t1, t2, t3), given enough lanes.
///
/// Collective over the context.
/// \param groups  all ranks, each in one group
/// \param inner   shared_buffer_tree or binomial_tree: through shared memory where each group is on one host, else by messages
/// \param outer   one that make_group_collective() can make; by messages
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_levels(const AllreduceParts& parts,
                                                           const std::vector<std::vector<int>>& groups,
                                                           AllreduceAlgorithm inner, AllreduceAlgorithm outer,
                                                           const LevelShape& shape);
/// One level of all ranks, by messages.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_flat(const AllreduceParts& parts,
                                                         AllreduceAlgorithm algorithm,
                                                         const LevelShape& shape);

/// The same for GPUs. Groups combine by two_shot, and each rank takes part in the outer level with its part of the elements.
/// \param groups  all of one size, each on one host
/// \param outer   two_shot, nccl, or one that make_group_collective() has; none: group after group, in rank order
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_levels_on_device(
    const AllreduceParts& parts, const std::vector<std::vector<int>>& groups,
    std::optional<AllreduceAlgorithm> outer, const LevelShape& shape);
/// One level of all GPUs, by NCCL.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_nccl(const AllreduceParts& parts);

/// Groups of consecutive ranks. The last group may be smaller.
[[nodiscard]] std::vector<std::vector<int>> groups_in_order(int ranks, int group_size);
/// For each rank, the first rank on the same GPU.
[[nodiscard]] std::vector<int> first_ranks_of_gpus(const topo::Machine& machine);
/// Groups of `group_size` consecutive ranks, or with 0 those of each GPU. \param first_ranks  what first_ranks_of_gpus() gives
[[nodiscard]] std::vector<std::vector<int>> device_groups(int group_size,
                                                          const std::vector<int>& first_ranks);
/// The ranks of each host.
[[nodiscard]] std::vector<std::vector<int>> ranks_by_host(const AllreduceParts& parts);

}  // namespace selvage::detail
