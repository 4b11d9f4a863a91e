#include "run_kernels.hpp"

#include "gpu/cuda/check.hpp"
#include "run_chunks.hpp"

namespace selvage::detail {
namespace {

__global__ void __launch_bounds__(run_threads_per_block) copy_runs_kernel(RunProgram program) {
  copy_chunk_of_runs(program, program.chunks[blockIdx.x]);
}

}  // namespace

void launch_copy_runs(const RunProgram& program, cudaStream_t stream) {
  if (program.chunk_count == 0) return;
  copy_runs_kernel<<<program.chunk_count, run_threads_per_block, 0, stream>>>(program);
  check_cuda(cudaGetLastError(), "launching comm::copy_runs");
}

}  // namespace selvage::detail
