#include "run_copy.hpp"

#include "device_transfer.hpp"

#include <cstdint>

namespace selvage::detail {
namespace {

class HostRunCopy final : public RunCopy {
 public:
  explicit HostRunCopy(const std::vector<CopyRun>& placed) : boxes_(boxes_of(placed, nullptr, nullptr)) {}
  void enqueue(Executor& executor) const override { executor.copy(boxes_); }

 private:
  std::vector<CopyBox> boxes_;
};

}  // namespace

void append_placed(std::vector<CopyRun>& placed, std::span<const CopyRun> runs, const std::byte* source,
                   const std::byte* target) {
  placed.reserve(placed.size() + runs.size());
  for (CopyRun run : runs) {
    run.source += static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(source));
    run.target += static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(target));
    placed.push_back(run);
  }
}

std::unique_ptr<RunCopy> make_run_copy(const Executor& executor, std::vector<CopyRun> placed) {
  if (executor.runs_on_host()) return std::make_unique<HostRunCopy>(placed);
  return make_device_run_copy(placed);
}

}  // namespace selvage::detail
