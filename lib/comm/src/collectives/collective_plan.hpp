#pragma once

#include "allreduce_registry.hpp"
#include "runtime/context_state.hpp"
#include "runtime/first_error.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace selvage::detail {

/// Everything that is decided, allocated and mapped once for a Collective, and the state of the operation in flight.
class CollectivePlan {
 public:
  /// Collective; throws what the Collective's constructor says.
  CollectivePlan(std::shared_ptr<ContextState> context, const Executor& executor,
                 const AllreduceOptions& options, const Elements& elements, const Flow& flow = {});
  CollectivePlan(const CollectivePlan&) = delete;
  CollectivePlan& operator=(const CollectivePlan&) = delete;
  ~CollectivePlan();

  std::uint64_t start(Executor& executor);
  void finish(Executor& executor, std::uint64_t epoch);
  /// finish() without waiting: \return whether it is done, or on a device enqueued; then it isn't called again
  [[nodiscard]] bool poll(Executor& executor, std::uint64_t epoch);
  /// Who keeps poll() from being done.
  [[nodiscard]] std::string describe_late() const;
  void check();
  [[nodiscard]] AllreduceAlgorithm algorithm() const { return algorithm_; }
  [[nodiscard]] std::string explain() const;
  [[nodiscard]] std::int64_t bytes_between_hosts() const;
  /// In values of the View. \throws Error{usage}
  [[nodiscard]] ElementRange part(int rank) const;
  /// This plan's, where a copy of `input` may overwrite them now. \throws Error{usage}
  [[nodiscard]] const Elements& elements_to_fill(const Elements& input);
  [[nodiscard]] PublicCall public_call() const { return context_->public_call(); }

 private:
  [[nodiscard]] std::string purpose() const;
  void require_sound(const Executor& executor, const AllreduceOptions& options) const;
  /// \throws Error{unsupported} for an operation that these values don't have
  void require_meaning(ReduceOperation operation) const;
  void require_idle();
  void require_started(std::uint64_t epoch) const;
  [[nodiscard]] std::string what_runs() const;
  void require_same_everywhere(const AllreduceOptions& options) const;
  /// Collective: whether all ranks' elements lie in memory that other ranks can map.
  [[nodiscard]] bool has_mapped_views() const;
  /// Collective on hosts.
  [[nodiscard]] AllreduceFacts facts(const Executor& executor, const AllreduceOptions& options) const;
  /// Collective the first time in a Context.
  [[nodiscard]] AllreduceAdvice advice(const AllreduceFacts& facts) const;

  std::shared_ptr<ContextState> context_;
  Tags tags_;  ///< before what uses them, to go after it
  Elements elements_;
  Flow flow_;
  ReduceOperation operation_;
  AllreduceAlgorithm algorithm_ = AllreduceAlgorithm::mpi;
  std::string form_;  ///< the algorithm and what it is made of
  std::string why_;
  std::unique_ptr<AllreduceRunner> runner_;
  std::uint64_t epoch_ = 0;
  bool in_flight_ = false;
  FirstError error_;
  bool on_host_;
};

}  // namespace selvage::detail
