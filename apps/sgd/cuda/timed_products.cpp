#include "timed_products.hpp"

#include "check_cublas.hpp"
#include "common/cuda/check.hpp"
#include "sgd/step_graph.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace selvage::sgd {
namespace {

/// Another algorithm than cuBLAS's own has to take less than this share of its time: what is as fast alone may be slower
/// beside sums over ranks, for which cuBLAS's choice for large products leaves room.
constexpr double worthwhile_share = 0.98;

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

Event make_event() {
  cudaEvent_t event = nullptr;
  app::check_cuda(cudaEventCreate(&event), "cudaEventCreate");
  return Event(event);
}

}  // namespace

bool TimedProducts::is_captured() const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  app::check_cuda(cudaStreamIsCapturing(place_.stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

double TimedProducts::milliseconds_of(const std::function<void()>& product) const {
  constexpr int products = 8;
  constexpr int rounds = 4;
  const auto replay = capture_step(space_, [&] {
    for (int i = 0; i < products; ++i) product();
  });
  const Event begin = make_event();
  const Event end = make_event();
  float least = std::numeric_limits<float>::max();
  for (int round = 0; round < rounds; ++round) {
    app::check_cuda(cudaEventRecord(begin.get(), place_.stream), "cudaEventRecord");
    replay();
    app::check_cuda(cudaEventRecord(end.get(), place_.stream), "cudaEventRecord");
    app::check_cuda(cudaEventSynchronize(end.get()), "cudaEventSynchronize");
    float elapsed = 0;
    app::check_cuda(cudaEventElapsedTime(&elapsed, begin.get(), end.get()), "cudaEventElapsedTime");
    least = std::min(least, elapsed);
  }
  return least / products;
}

TimedProducts::Plan TimedProducts::make_plan(const ProductShape& shape, const Factor& a, const Factor& b,
                                             float* result, const std::function<void()>& by_default) const {
  Plan plan{std::make_unique<LtProduct>(place_, shape), {}};
  // Kernels are loaded when they are launched first, which a capture might not survive.
  by_default();
  double least = worthwhile_share * milliseconds_of(by_default);
  for (const Algorithm& algorithm : plan.product->algorithms()) {
    const auto enqueue = [&] { return plan.product->enqueue(algorithm, a.data, b.data, result); };
    const cublasStatus_t status = enqueue();
    // Not the algorithm's fault, but of what all of them are given.
    if (status == CUBLAS_STATUS_INVALID_VALUE) check_cublas(status, "cublasLtMatmul");
    if (status != CUBLAS_STATUS_SUCCESS) continue;
    const double own = milliseconds_of([&] { check_cublas(enqueue(), "cublasLtMatmul"); });
    if (own >= least) continue;
    least = own;
    plan.algorithm = algorithm;
  }
  return plan;
}

void TimedProducts::multiply(const Factor& a, const Factor& b, float* result,
                             const std::function<void()>& by_default) {
  const ProductShape shape(a, b, result);
  auto plan = plans_.find(shape);
  if (plan == plans_.end()) {
    if (is_captured()) return by_default();
    plan = plans_.emplace(shape, make_plan(shape, a, b, result, by_default)).first;
  }
  if (!plan->second.algorithm) return by_default();
  check_cublas(plan->second.product->enqueue(*plan->second.algorithm, a.data, b.data, result),
               "cublasLtMatmul");
}

}  // namespace selvage::sgd
