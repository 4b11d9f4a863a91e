#pragma once

#include "allreduce_algorithm.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace selvage::detail {

/// How the elements pass through the levels of a reduction.
struct LevelShape {
  std::int64_t chunk_bytes;  ///< elements at a time
  int lanes = 1;             ///< chunks under way at the same time; at most allreduce_tags
};

/// Of GPUs: as much as is combined without a pause, in bounded memory.
inline constexpr std::int64_t whole_chunk_bytes = 256 * 1024 * 1024;
/// Of GPUs whose groups speak through host memory: while one chunk is there, others are in the GPUs.
inline constexpr LevelShape staged_chunks{.chunk_bytes = 4 * 1024 * 1024, .lanes = allreduce_tags};

/// Two levels: groups combine theirs (inner), their first ranks combine that (outer), and the results come back the same
/// way. A level of single ranks is left out. Chunks of the elements pass through by themselves, so that those in
/// different lanes may be on different levels: for C chunks of times t1 up, t2 between the first ranks and t3 back,
/// t1 + t2 + t3 + (C - 1) max(t1, t2, t3) with lanes enough.
///
/// Collective over the context.
/// \param groups  all ranks, each in one group
/// \param inner   shared_buffer_tree or binomial_tree: through shared memory where each group is on one host, else by messages
/// \param outer   one that make_group_collective() has; by messages
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_levels(const AllreduceParts& parts,
                                                           const std::vector<std::vector<int>>& groups,
                                                           AllreduceAlgorithm inner, AllreduceAlgorithm outer,
                                                           const LevelShape& shape);
/// One level of all ranks, by messages.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_flat(const AllreduceParts& parts,
                                                         AllreduceAlgorithm algorithm,
                                                         const LevelShape& shape);

/// The same between GPUs, whose groups combine by two_shot; each rank goes on with its part.
/// \param groups  all of one size, each on one host
/// \param outer   nccl, or one that make_group_collective() has; none: group after group, in rank order
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_levels_on_device(
    const AllreduceParts& parts, const std::vector<std::vector<int>>& groups,
    std::optional<AllreduceAlgorithm> outer, const LevelShape& shape);
/// One level of all GPUs, by NCCL.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_nccl(const AllreduceParts& parts);

/// Ranks that follow each other; the last group may be smaller.
[[nodiscard]] std::vector<std::vector<int>> groups_in_order(int ranks, int group_size);
/// The ranks of each host.
[[nodiscard]] std::vector<std::vector<int>> ranks_by_host(const AllreduceParts& parts);

}  // namespace selvage::detail
