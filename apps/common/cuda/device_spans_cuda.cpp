#include "common/cuda/check.hpp"
#include "common/device_spans.hpp"

#include <cuda_runtime_api.h>

#include <deque>
#include <vector>

namespace selvage::app {
namespace {

class CudaSpans final : public DeviceSpans {
 public:
  ~CudaSpans() override {
    for (const Span& span : spans_) {
      cudaEventDestroy(span.begin);
      cudaEventDestroy(span.end);
    }
    for (cudaEvent_t event : spare_) cudaEventDestroy(event);
  }

  std::uint64_t begin(std::size_t phase, void* stream) override {
    take_ended();
    spans_.push_back({phase, take_event(), take_event(), false});
    check_cuda(cudaEventRecord(spans_.back().begin, static_cast<cudaStream_t>(stream)), "cudaEventRecord");
    return first_ + spans_.size() - 1;
  }
  void end(std::uint64_t number, void* stream) override {
    Span& span = spans_[number - first_];
    check_cuda(cudaEventRecord(span.end, static_cast<cudaStream_t>(stream)), "cudaEventRecord");
    span.has_end = true;
  }
  double seconds(std::size_t phase) override {
    while (!spans_.empty() && spans_.front().has_end) {
      check_cuda(cudaEventSynchronize(spans_.front().end), "cudaEventSynchronize");
      take_first();
    }
    return phase < sums_.size() ? sums_[phase] : 0;
  }

 private:
  struct Span {
    std::size_t phase;
    cudaEvent_t begin;
    cudaEvent_t end;
    bool has_end;
  };

  /// Without a wait, so that there are never many.
  void take_ended() {
    while (!spans_.empty() && spans_.front().has_end) {
      const cudaError_t ended = cudaEventQuery(spans_.front().end);
      if (ended == cudaErrorNotReady) return;
      check_cuda(ended, "cudaEventQuery");
      take_first();
    }
  }
  void take_first() {
    const Span span = spans_.front();
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, span.begin, span.end), "cudaEventElapsedTime");
    if (sums_.size() <= span.phase) sums_.resize(span.phase + 1);
    sums_[span.phase] += 1e-3 * static_cast<double>(milliseconds);
    spare_.push_back(span.begin);
    spare_.push_back(span.end);
    spans_.pop_front();
    ++first_;
  }
  cudaEvent_t take_event() {
    cudaEvent_t event = nullptr;
    if (spare_.empty()) {
      check_cuda(cudaEventCreate(&event), "cudaEventCreate");
    } else {
      event = spare_.back();
      spare_.pop_back();
    }
    return event;
  }

  std::deque<Span> spans_;   ///< that were begun and not added yet, in order
  std::uint64_t first_ = 0;  ///< number of the first of these
  std::vector<cudaEvent_t> spare_;
  std::vector<double> sums_;  ///< by phase
};

}  // namespace

std::unique_ptr<DeviceSpans> make_device_spans() {
  return std::make_unique<CudaSpans>();
}

}  // namespace selvage::app
