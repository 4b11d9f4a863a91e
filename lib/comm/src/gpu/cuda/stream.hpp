#pragma once

#include "check.hpp"

#include <memory>

namespace selvage::detail {

class Event {
 public:
  explicit Event(unsigned flags = cudaEventDefault) {
    cudaEvent_t event = nullptr;
    check_cuda(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
    event_ = std::shared_ptr<CUevent_st>(event, [](cudaEvent_t gone) { cudaEventDestroy(gone); });
  }
  void record(cudaStream_t stream) const {
    check_cuda(cudaEventRecord(event_.get(), stream), "cudaEventRecord");
  }
  void hold_back(cudaStream_t stream) const {
    check_cuda(cudaStreamWaitEvent(stream, event_.get(), 0), "cudaStreamWaitEvent");
  }
  [[nodiscard]] double seconds_since(const Event& earlier) const {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, earlier.event_.get(), event_.get()),
               "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }
  [[nodiscard]] bool is_done() const {
    const cudaError_t state = cudaEventQuery(event_.get());
    if (state != cudaErrorNotReady) check_cuda(state, "cudaEventQuery");
    return state == cudaSuccess;
  }
  void wait() const { check_cuda(cudaEventSynchronize(event_.get()), "cudaEventSynchronize"); }

 private:
  std::shared_ptr<CUevent_st> event_;
};

/// A new stream on the current GPU. The destructor waits for its work.
class Stream {
 public:
  explicit Stream(bool high_priority = false) {
    int lowest = 0;
    int highest = 0;
    check_cuda(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange");
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, high_priority ? highest : lowest),
               "cudaStreamCreateWithPriority");
    stream_ = std::shared_ptr<CUstream_st>(stream, [](cudaStream_t gone) {
      cudaStreamSynchronize(gone);
      cudaStreamDestroy(gone);
    });
  }
  [[nodiscard]] cudaStream_t get() const { return stream_.get(); }

 private:
  std::shared_ptr<CUstream_st> stream_;
};

/// A stream for work beside another stream, between two points of that stream. May be used while that is captured.
class SideStream {
 public:
  explicit SideStream(bool high_priority = false) : stream_(high_priority) {}

  [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
  /// Work enqueued here from now on runs after the work enqueued on `stream` so far.
  void fork(cudaStream_t stream) const {
    begin_.record(stream);
    begin_.hold_back(get());
  }
  /// Work enqueued on `stream` from now on runs after the work enqueued here so far.
  void join(cudaStream_t stream) const {
    end_.record(get());
    end_.hold_back(stream);
  }

 private:
  Stream stream_;
  Event begin_{cudaEventDisableTiming};
  Event end_{cudaEventDisableTiming};
};

}  // namespace selvage::detail
