#include "common/cuda/check.hpp"
#include "sgd/step_graph.hpp"

#include <memory>

namespace selvage::sgd {

StepGraph capture_step(const Space& space, const std::function<void()>& enqueue) {
  cudaStream_t stream = space.cuda_stream();
  cudaGraph_t graph = nullptr;
  app::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  try {
    enqueue();
  } catch (...) {
    // The error that is underway says more than what ending the capture would.
    static_cast<void>(cudaStreamEndCapture(stream, &graph));
    throw;
  }
  app::check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  const std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)> captured(graph, cudaGraphDestroy);
  std::size_t nodes = 0;
  app::check_cuda(cudaGraphGetNodes(graph, nullptr, &nodes), "cudaGraphGetNodes");
  cudaGraphExec_t executable = nullptr;
  app::check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  const std::shared_ptr<CUgraphExec_st> owner(executable, cudaGraphExecDestroy);
  return {[owner, stream] { app::check_cuda(cudaGraphLaunch(owner.get(), stream), "cudaGraphLaunch"); },
          nodes};
}

}  // namespace selvage::sgd
