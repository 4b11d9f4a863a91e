#include "device_timeline.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace selvage::detail {
namespace {

/// Buckets are reduced by the calling thread, so they are ordered anyway.
class HostTimeline final : public BucketTimeline {
 public:
  [[nodiscard]] void* stream() const override { return nullptr; }
  void expect_buckets(int count) override { spans_.resize(static_cast<std::size_t>(count)); }
  void follow(void* /*compute*/) override {}
  void begin(int bucket) override { spans_[static_cast<std::size_t>(bucket)].begin = Clock::now(); }
  void end(int bucket) override { spans_[static_cast<std::size_t>(bucket)].end = Clock::now(); }
  void computed(void* /*compute*/) override { computed_ = Clock::now(); }
  void join_bucket(void* /*compute*/, int /*bucket*/) override {}
  void join(void* /*compute*/) override {}

  [[nodiscard]] Times times(int bucket) const override {
    const auto at = static_cast<std::size_t>(bucket);
    const Clock::time_point end = spans_[at].end;
    const Clock::time_point begin =
        at == 0 ? spans_[at].begin : std::max(spans_[at].begin, spans_[at - 1].end);
    const auto since = [&](Clock::time_point time) {
      return std::max(0.0, std::chrono::duration<double>(end - time).count());
    };
    return {.total = since(begin), .exposed = since(std::max(begin, computed_))};
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Span {
    Clock::time_point begin;
    Clock::time_point end;
  };
  std::vector<Span> spans_;
  Clock::time_point computed_;
};

}  // namespace

std::unique_ptr<BucketTimeline> make_bucket_timeline(bool on_host, bool high_priority) {
  if (on_host) return std::make_unique<HostTimeline>();
  return make_device_timeline(high_priority);
}

}  // namespace selvage::detail
