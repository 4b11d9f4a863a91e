#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/flow.hpp>
#include <selvage/comm/elements.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// Arguments for an algorithm. The context outlives the algorithm; the executor exists only during its construction.
struct AllreduceParts {
  ContextState& context;
  const Executor& executor;
  Elements elements;  ///< the same count and type on all ranks
  ReduceOperation operation;
  Flow flow;
  int first_tag;                                 ///< of allreduce_tags
  int max_blocks = 0;                            ///< that kernels may take; 0: as many as help
  std::optional<AllreduceAlgorithm> inner = {};  ///< as in AllreduceOptions, like the next two
  std::optional<AllreduceAlgorithm> outer = {};
  int group_size = 0;
};
inline constexpr int allreduce_tags = 4;

/// Of the context.
[[nodiscard]] std::vector<int> all_ranks(const AllreduceParts& parts);

/// Combines the elements of all ranks, in place. For each reduction all ranks call start(), then progress() until it returns true.
class AllreduceRunner {
 public:
  AllreduceRunner() = default;
  AllreduceRunner(const AllreduceRunner&) = delete;
  AllreduceRunner& operator=(const AllreduceRunner&) = delete;
  virtual ~AllreduceRunner() = default;

  /// Never waits for another rank.
  virtual void start(Executor& executor) = 0;
  /// \return true when the elements hold the result or, on a GPU, when everything is enqueued
  virtual bool progress(Executor& executor) = 0;
  /// Throws the error of a wait on a GPU. \throws Error{timeout}
  virtual void check() const {}
  /// Bytes that this rank has sent to other hosts so far.
  [[nodiscard]] virtual std::int64_t bytes_between_hosts() const { return 0; }
  /// What explain() adds; empty for nothing.
  [[nodiscard]] virtual std::string remark() const { return {}; }
  /// The ranks that progress() waits for, for the message of a timeout.
  [[nodiscard]] virtual std::string describe_late() const = 0;
};

}  // namespace selvage::detail
