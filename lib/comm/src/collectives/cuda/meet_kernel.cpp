#include "allreduce_wait.hpp"
#include "launch_chained.hpp"

namespace selvage::detail {
namespace {

/// Publishes to the peers: what this rank's stream did before; acquires what theirs did.
__global__ void meet_peers(const __grid_constant__ AllreduceProgram program) {
  begin_chained();
  const std::uint64_t epoch = program.state->epochs[blockIdx.x] + 1;
  if (program.state->failed == 0) static_cast<void>(meet(program, program.arrived, epoch));
  end_chained();
  if (threadIdx.x == 0) program.state->epochs[blockIdx.x] = epoch;
}

constexpr std::string_view name = "comm::meet";

void load(const AllreduceProgram& /*program*/) {
  cudaFuncAttributes unused{};
  check_cuda(cudaFuncGetAttributes(&unused, &meet_peers), name);
}
void launch(const AllreduceProgram& program, cudaStream_t stream) {
  launch_chained(&meet_peers, program, stream, name);
}

}  // namespace

/// One kernel speaks for all, which are compiled alike.
bool kernels_can_chain() {
  constexpr int first_that_chains = 90;
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, &meet_peers), name);
  return attributes.ptxVersion >= first_that_chains;
}

AllreduceKernel meet_kernel() {
  return {&load, &launch};
}

}  // namespace selvage::detail
