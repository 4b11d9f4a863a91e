#pragma once

#include "copy_runs.hpp"

#include <selvage/comm/detail/executor.hpp>

#include <memory>
#include <vector>

namespace selvage::detail {

/// The same runs with the addresses of both sides added: offsets from address 0.
void append_placed(std::vector<CopyRun>& placed, std::span<const CopyRun> runs, const std::byte* source,
                   const std::byte* target);

/// Copies that are made ready once and enqueued often.
class PreparedCopy {
 public:
  PreparedCopy() = default;
  PreparedCopy(const PreparedCopy&) = delete;
  PreparedCopy& operator=(const PreparedCopy&) = delete;
  virtual ~PreparedCopy() = default;

  virtual void enqueue(Executor& executor) const = 0;
};

[[nodiscard]] std::unique_ptr<PreparedCopy> make_box_copy(std::vector<CopyBox> boxes);
/// \param placed  see append_placed; no two of them write the same byte
[[nodiscard]] std::unique_ptr<PreparedCopy> make_run_copy(const Executor& executor,
                                                          const std::vector<CopyRun>& placed);
/// On a GPU: all runs in one kernel. \throws Error{unsupported} without a GPU backend, Error{cuda}
[[nodiscard]] std::unique_ptr<PreparedCopy> make_device_run_copy(const std::vector<CopyRun>& placed);

}  // namespace selvage::detail
