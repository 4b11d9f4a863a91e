#include "collectives/buckets/device_timeline.hpp"

#include "gpu/cuda/stream.hpp"

#include <algorithm>
#include <vector>

namespace selvage::detail {
namespace {

class DeviceTimeline final : public BucketTimeline {
 public:
  explicit DeviceTimeline(bool high_priority) : stream_(high_priority) {}

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
  void join_bucket(void* compute, int bucket) override {
    spans_[static_cast<std::size_t>(bucket)].end.hold_back(static_cast<cudaStream_t>(compute));
  }
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
  Stream stream_;
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
