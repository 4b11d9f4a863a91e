#pragma once

#include <optional>
#include <string_view>

namespace selvage {

/// How the elements of all ranks become one. Integers wrap; their average is divided towards zero. Those of 8 and 16 bits are combined
/// as integers of 32 bits: the result is cut to the type's width at the end, so an average doesn't wrap.
enum class ReduceOperation { sum, average, min, max, product };

/// How an allreduce moves its bytes. Those in rank order all give the same bits; the others need
/// AllreduceOptions::allow_reordering.
enum class AllreduceAlgorithm {
  one_shot,  ///< each rank gets all ranks' elements and combines them itself; on GPUs by stores of 8 bytes (LL)
  one_shot_ll128,  ///< the same in lines of 120 bytes that carry their own flag; on GPUs
  two_shot,  ///< each rank combines one part of the elements, in place, and writes the result to all ranks
  two_shot_ll128,        ///< the same in lines of 120 bytes that carry their own flag; on GPUs
  two_shot_push,         ///< the same by stores alone, chunk by chunk: the fastest for many bytes; on GPUs
  two_shot_copy_engine,  ///< two_shot whose results are distributed by copy engines; on GPUs
  copy_engine,  ///< the same, with elements fetched by copy engines too: occupies multiprocessors for a short time only
  shared_buffer_tree,  ///< ranks of a host copy into a buffer of the first, which combines; all copy the result out
  hierarchical,  ///< hosts combine theirs one after the other; inside through shared memory, GPUs by two_shot
  mpi,           ///< two_shot by MPI messages, for ranks that can't map each other's memory
  nccl,  ///< NCCL, found at run time: for GPUs that don't map each other's memory; not in rank order, like the next
  binomial_tree,       ///< up a binomial tree and down again
  recursive_doubling,  ///< ranks at growing distances swap what they have combined
  ring,                ///< parts travel round a ring, and each rank adds its elements
  segmented_ring,      ///< ring for short segments, several at a time
  recursive_doubling_ll,  ///< recursive_doubling in one kernel, 8 bytes at a time (LL), without the host; on GPUs
  multi_ring,             ///< a ring per block of one kernel, in both directions; on GPUs
  pipelined,  ///< groups combine at their leaders, leaders exchange: chunks in stages that overlap
};

[[nodiscard]] std::string_view to_string(ReduceOperation operation);
[[nodiscard]] std::string_view to_string(AllreduceAlgorithm algorithm);
/// \throws Error{input} that lists what there is
[[nodiscard]] AllreduceAlgorithm parse_allreduce_algorithm(std::string_view text);

/// What is computed, and how. The same on all ranks.
struct AllreduceOptions {
  ReduceOperation operation = ReduceOperation::sum;
  /// Force one; else SELVAGE_ALLREDUCE; else chosen by size, from a table of selvage-tune or by a built-in rule.
  std::optional<AllreduceAlgorithm> algorithm = {};
  /// How many blocks of threads its kernels may have on a GPU, each of which takes about a multiprocessor from other kernels;
  /// 0: as many as help.
  int max_blocks = 0;
  /// Allow algorithms that combine in another order than by rank: all ranks still get the same bits as each other, but
  /// they depend on algorithm and rank layout. SELVAGE_ALLREDUCE_REORDERING=yes or no overrules it.
  bool allow_reordering = false;
  /// For hierarchical and pipelined. `inner` is how the ranks of a host, or group, combine: shared_buffer_tree or binomial_tree; on
  /// GPUs two_shot. `outer` is how the first ranks of hosts, on GPUs all ranks for their parts, combine what these hold:
  /// shared_buffer_tree, binomial_tree, recursive_doubling, ring, mpi or nccl. For GPUs of one host that several ranks share,
  /// hierarchical has two_shot: the groups are then the ranks of each GPU. It takes as much memory of a GPU as a rank's elements (16-bit
  /// types: twice as much), up to 256 MB (512 MB). hierarchical without either combines in rank order.
  /// With one of them it reorders, and the other is by default shared_buffer_tree inside and binomial_tree outside, on GPUs
  /// two_shot and mpi. In SELVAGE_ALLREDUCE: "hierarchical:shared_buffer_tree,binomial_tree".
  std::optional<AllreduceAlgorithm> inner = {};
  std::optional<AllreduceAlgorithm> outer = {};
  /// For pipelined: ranks per group, the last may be smaller; 0: hosts are groups. In SELVAGE_ALLREDUCE: "pipelined:2". For
  /// hierarchical with two_shot as outer: ranks per group, all alike; 0: those of each GPU. "hierarchical:two_shot,two_shot:2".
  int group_size = 0;
};

}  // namespace selvage
