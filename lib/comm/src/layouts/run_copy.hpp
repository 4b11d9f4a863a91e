#pragma once

#include "copy_runs.hpp"

#include <selvage/comm/detail/executor.hpp>

#include <memory>
#include <vector>

namespace selvage::detail {

/// The same runs with the addresses of both sides added: offsets from address 0.
void append_placed(std::vector<CopyRun>& placed, std::span<const CopyRun> runs, const std::byte* source,
                   const std::byte* target);

/// Copies of a list of runs that are made ready once and enqueued often.
class RunCopy {
 public:
  RunCopy() = default;
  RunCopy(const RunCopy&) = delete;
  RunCopy& operator=(const RunCopy&) = delete;
  virtual ~RunCopy() = default;

  virtual void enqueue(Executor& executor) const = 0;
};

/// \param placed  see append_placed; no two of them write the same byte
[[nodiscard]] std::unique_ptr<RunCopy> make_run_copy(const Executor& executor,
                                                     const std::vector<CopyRun>& placed);
/// On a GPU: all runs in one kernel. \throws Error{unsupported} without a GPU backend, Error{cuda}
[[nodiscard]] std::unique_ptr<RunCopy> make_device_run_copy(const std::vector<CopyRun>& placed);

}  // namespace selvage::detail
