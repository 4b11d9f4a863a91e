#include "gpu/no_gpu.hpp"

#include "run_copy.hpp"

namespace selvage::detail {

std::unique_ptr<RunCopy> make_device_run_copy(const std::vector<CopyRun>&) {
  refuse_gpus();
}

}  // namespace selvage::detail
