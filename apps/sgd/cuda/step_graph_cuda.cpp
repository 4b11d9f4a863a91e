#include "sgd/cuda/check.hpp"
#include "sgd/step_graph.hpp"

#include <memory>

namespace selvage::sgd {

using cuda::check_cuda;

std::function<void()> capture_step(const Space& space, const std::function<void()>& enqueue) {
  cudaStream_t stream = space.cuda_stream();
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  try {
    enqueue();
  } catch (...) {
    // The error that is underway says more than what ending the capture would.
    static_cast<void>(cudaStreamEndCapture(stream, &graph));
    throw;
  }
  check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  const std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)> captured(graph, cudaGraphDestroy);
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  const std::shared_ptr<CUgraphExec_st> owner(executable, cudaGraphExecDestroy);
  return [owner, stream] { check_cuda(cudaGraphLaunch(owner.get(), stream), "cudaGraphLaunch"); };
}

}  // namespace selvage::sgd
