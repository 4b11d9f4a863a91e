#include "graph.hpp"

#include <selvage/error.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>
#include <string_view>

namespace selvage::bench {
namespace {

void check(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) return;
  throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", call, cudaGetErrorString(code)),
              static_cast<int>(code));
}

}  // namespace

Kokkos::DefaultExecutionSpace make_instance() {
  cudaStream_t stream = nullptr;  // lives as long as the process: what is timed on it may go at any time
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return Kokkos::Cuda(stream);
}

std::function<void()> capture(const Kokkos::DefaultExecutionSpace& space,
                              const std::function<void()>& enqueue) {
  cudaStream_t stream = space.cuda_stream();
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  enqueue();
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  const std::shared_ptr<CUgraphExec_st> owner(executable, cudaGraphExecDestroy);
  return [owner, stream] { check(cudaGraphLaunch(owner.get(), stream), "cudaGraphLaunch"); };
}

}  // namespace selvage::bench
