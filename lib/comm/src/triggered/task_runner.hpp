#pragma once

#include "proxy/proxy_sender.hpp"
#include "runtime/context_state.hpp"
#include "runtime/service.hpp"

#include <selvage/comm/remote_tasks.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace selvage::detail {

/// Runs the tasks that other ranks call, in the order of arrival, on the thread of a service and in host memory. Only this object acquires
/// `incoming` words and puts `finished` words to the callers.
class TaskRunner final : public Pollable, private TransferWatcher {
 public:
  /// All ranks must call it in the same order, because it takes message tags.
  TaskRunner(ContextState& context, const WindowState& window, const TaskLayout& layout);

  /// \throws Error{usage} for an index that is taken or too large, and for no function
  void add(std::uint32_t index, RemoteTasks::Function function);
  bool poll() override;
  /// Call it only after removing this object from its service.
  void poll_sender() { sender_->progress(); }
  [[nodiscard]] bool is_idle() const { return sender_->is_idle(); }

 private:
  void local_done(std::uint64_t) override {}
  void remote_done(std::uint64_t) override {}
  /// Runs the next call of a source, if it has arrived. \return whether it has
  bool run_next(int source);
  void run(int source, std::uint64_t number) const;
  /// Reports a call as finished to its source, even if the task has thrown: the error is reported on this rank.
  void finish(int source);

  const WindowState& window_;
  TaskLayout layout_;
  int rank_;
  std::unique_ptr<ProxySender> sender_;
  std::array<RemoteTasks::Function, RemoteTasks::indices> functions_;
  std::vector<std::uint64_t> finished_;  ///< calls, by source
  std::vector<int> failed_;              ///< sources of tasks that have thrown, still to be finished
};

}  // namespace selvage::detail
