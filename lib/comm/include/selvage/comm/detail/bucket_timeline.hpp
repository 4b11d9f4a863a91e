#pragma once

#include <memory>

namespace selvage::detail {

/// Orders the buckets of a step with the caller's instances, given as their streams (null on hosts), and times them.
class BucketTimeline {
 public:
  /// Seconds; 0 where nothing was timed.
  struct Times {
    double total = 0;
    double exposed = 0;
  };

  BucketTimeline() = default;
  BucketTimeline(const BucketTimeline&) = delete;
  BucketTimeline& operator=(const BucketTimeline&) = delete;
  virtual ~BucketTimeline() = default;

  /// Where buckets are reduced: a cudaStream_t; null on hosts.
  [[nodiscard]] virtual void* stream() const = 0;
  /// Before the first begin(). Not in a capture.
  virtual void expect_buckets(int count) = 0;
  /// What buckets are given next comes after what `compute` was given so far.
  virtual void follow(void* compute) = 0;
  virtual void begin(int bucket) = 0;
  virtual void end(int bucket) = 0;
  /// The caller has nothing more to compute: what is still under way is exposed.
  virtual void computed(void* compute) = 0;
  /// What `compute` is given next comes after a bucket's end().
  virtual void join_bucket(void* compute, int bucket) = 0;
  /// What `compute` is given next comes after all that buckets were given.
  virtual void join(void* compute) = 0;
  /// Of the last step; waits for its end.
  [[nodiscard]] virtual Times times(int bucket) const = 0;
};

/// On the current GPU, or for the host.
[[nodiscard]] std::unique_ptr<BucketTimeline> make_bucket_timeline(bool on_host, bool high_priority);

}  // namespace selvage::detail
