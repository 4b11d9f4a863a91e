#pragma once

#include <optional>
#include <string_view>

namespace selvage {

/// How the elements of all ranks become one. Integers wrap; their average is divided towards zero.
enum class ReduceOperation { sum, average, min, max, product };

/// How an allreduce moves its bytes. All give the same bits: every element is combined in rank order.
enum class AllreduceAlgorithm {
  one_shot,  ///< every rank shows its elements to all, and each combines all of them; on GPUs 8 bytes at a time (LL)
  one_shot_ll128,  ///< the same in lines of 120 bytes that carry their own flag; on GPUs
  two_shot,  ///< each rank combines its part of the elements and gives the result to all, where they lie
  two_shot_ll128,  ///< the same in lines of 120 bytes that carry their own flag; on GPUs
  two_shot_push,   ///< the same by stores alone, chunk by chunk: the fastest for many bytes; on GPUs
  hierarchical,    ///< hosts combine theirs one after the other, through shared memory inside
  mpi,             ///< two_shot by MPI's messages, between ranks that don't map each other's memory
};

[[nodiscard]] std::string_view to_string(ReduceOperation operation);
[[nodiscard]] std::string_view to_string(AllreduceAlgorithm algorithm);
/// \throws Error{input} that lists what there is
[[nodiscard]] AllreduceAlgorithm parse_allreduce_algorithm(std::string_view text);

struct AllreduceOptions {
  ReduceOperation operation = ReduceOperation::sum;
  /// Force one; else SELVAGE_ALLREDUCE; else chosen by size, from a table of selvage-tune or by a built-in rule.
  std::optional<AllreduceAlgorithm> algorithm = {};
  /// How many multiprocessors of a GPU it may take from other kernels; 0: as many as help.
  int multiprocessors = 0;
};

}  // namespace selvage
