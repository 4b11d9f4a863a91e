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

/// Runs what other ranks call, as it comes: on a service's thread, in host memory. Words: `incoming` is acquired, and
/// `finished` at the source put, by this alone.
class TaskRunner final : public Pollable, private TransferWatcher {
 public:
  /// Collective by convention: takes message tags.
  TaskRunner(ContextState& context, const WindowState& window, const TaskLayout& layout);

  /// \throws Error{usage} for an index that is taken or too large, and for no function
  void add(std::uint32_t index, RemoteTasks::Function function);
  bool poll() override;
  /// For who has removed it from its service.
  void poll_sender() { sender_->progress(); }
  [[nodiscard]] bool is_idle() const { return sender_->is_idle(); }

 private:
  void local_done(std::uint64_t) override {}
  void remote_done(std::uint64_t) override {}
  /// The next call of a source, if it has come. \return whether it has
  bool run_next(int source);
  void run(int source, std::uint64_t number) const;
  /// Says so at the source, also of a task that has thrown: the error is this rank's to find.
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
