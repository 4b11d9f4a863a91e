#include "gpu/no_gpu.hpp"

#include "prepared_copy.hpp"

namespace selvage::detail {

std::unique_ptr<PreparedCopy> make_device_run_copy(const std::vector<CopyRun>&) {
  refuse_gpus();
}

}  // namespace selvage::detail
