#include "../device_timeline.hpp"

#include "check.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace selvage::detail {
namespace {

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
  void wait() const { check_cuda(cudaEventSynchronize(event_.get()), "cudaEventSynchronize"); }

 private:
  std::shared_ptr<CUevent_st> event_;
};

class DeviceTimeline final : public BucketTimeline {
 public:
  explicit DeviceTimeline(bool high_priority) {
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

  [[nodiscard]] void* stream() const override { return stream_.get(); }
  void expect_buckets(int count) override { spans_.resize(static_cast<std::size_t>(count)); }

  void follow(void* compute) override {
    ready_.record(static_cast<cudaStream_t>(compute));
    ready_.hold_back(stream_.get());
  }
  void begin(int bucket) override {
    if (bucket == 0) {
      cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
      check_cuda(cudaStreamIsCapturing(stream_.get(), &status), "cudaStreamIsCapturing");
      is_timed_ = status == cudaStreamCaptureStatusNone;
    }
    spans_[static_cast<std::size_t>(bucket)].begin.record(stream_.get());
  }
  void end(int bucket) override { spans_[static_cast<std::size_t>(bucket)].end.record(stream_.get()); }
  void computed(void* compute) override { computed_.record(static_cast<cudaStream_t>(compute)); }
  void join(void* compute) override {
    done_.record(stream_.get());
    done_.hold_back(static_cast<cudaStream_t>(compute));
  }

  [[nodiscard]] Times times(int bucket) const override {
    const Span& span = spans_[static_cast<std::size_t>(bucket)];
    if (!is_timed_) return {};
    span.end.wait();
    computed_.wait();
    const double total = span.end.seconds_since(span.begin);
    return {.total = total, .exposed = std::clamp(span.end.seconds_since(computed_), 0.0, total)};
  }

 private:
  struct Span {
    Event begin;
    Event end;
  };
  std::shared_ptr<CUstream_st> stream_;
  Event ready_{cudaEventDisableTiming};
  Event done_{cudaEventDisableTiming};
  Event computed_;
  std::vector<Span> spans_;
  bool is_timed_ = false;
};

}  // namespace

std::unique_ptr<BucketTimeline> make_device_timeline(bool high_priority) {
  return std::make_unique<DeviceTimeline>(high_priority);
}

}  // namespace selvage::detail
