#include "runtime/gpu_aware.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace selvage::detail {
namespace {

TEST(GpuAwareMpi, KnowsWhichTransportsOfUcxWaitForKernels) {
  EXPECT_TRUE(ucx_takes_cuda_ipc(std::nullopt));
  EXPECT_TRUE(ucx_takes_cuda_ipc("all"));
  EXPECT_TRUE(ucx_takes_cuda_ipc("sm,cuda"));
  EXPECT_TRUE(ucx_takes_cuda_ipc("rc,cuda_copy,cuda_ipc"));
  EXPECT_TRUE(ucx_takes_cuda_ipc("^rc"));
  EXPECT_FALSE(ucx_takes_cuda_ipc("rc,sm,cuda_copy"));
  EXPECT_FALSE(ucx_takes_cuda_ipc("^cuda_ipc"));
  EXPECT_FALSE(ucx_takes_cuda_ipc("^rc,cuda_ipc"));
}

}  // namespace
}  // namespace selvage::detail
