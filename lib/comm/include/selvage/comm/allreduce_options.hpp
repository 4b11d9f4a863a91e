#pragma once

#include <optional>
#include <string_view>

namespace selvage {

/// How the elements of all ranks become one. Integers wrap; their average is divided towards zero.
enum class ReduceOperation { sum, average, min, max, product };

/// How an allreduce moves its bytes. All give the same bits: every element is combined in rank order.
enum class AllreduceAlgorithm {
  one_shot,      ///< every rank shows its elements to all, and each combines all of them
  two_shot,      ///< each rank combines its part of the elements and gives the result to all
  hierarchical,  ///< hosts combine theirs one after the other, through shared memory inside
  mpi,           ///< two_shot by MPI's messages, between ranks that don't map each other's memory
};

[[nodiscard]] std::string_view to_string(ReduceOperation operation);
[[nodiscard]] std::string_view to_string(AllreduceAlgorithm algorithm);
/// \throws Error{input} that lists what there is
[[nodiscard]] AllreduceAlgorithm parse_allreduce_algorithm(std::string_view text);

struct AllreduceOptions {
  ReduceOperation operation = ReduceOperation::sum;
  /// Force one; else SELVAGE_ALLREDUCE, else chosen by size.
  std::optional<AllreduceAlgorithm> algorithm = {};
};

}  // namespace selvage
