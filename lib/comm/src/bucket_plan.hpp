#pragma once

#include "allreduce_plan.hpp"
#include "bucket_layout.hpp"

#include <selvage/comm/gradient_buckets.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::detail {

/// The state behind GradientBuckets.
class BucketPlan {
 public:
  /// Collective; throws what GradientBuckets' constructor says.
  BucketPlan(std::shared_ptr<ContextState> context, const GradientBucketsOptions& options,
             std::vector<Elements> gradients, std::unique_ptr<BucketTimeline> timeline,
             std::unique_ptr<Executor> communication, std::unique_ptr<Caster> caster);

  void ready(const Executor& compute, int gradient);
  void finish(Executor& compute);
  void check() const;
  [[nodiscard]] std::vector<BucketReport> report() const;
  [[nodiscard]] int device() const { return context_->device(); }

 private:
  struct Bucket {
    BucketLayout layout;
    Buffer packed;  ///< empty where the gradients are reduced in place
    std::unique_ptr<AllreducePlan> allreduce;
    int missing = 0;  ///< gradients that aren't ready in this step
    std::uint64_t epoch = 0;
    bool is_done = false;
  };

  void require_same_everywhere() const;
  void require_all_ready() const;
  [[nodiscard]] std::string name_of(int gradient) const;
  /// Collective: buckets for the order in which rank 0's gradients became ready.
  void make_buckets();
  [[nodiscard]] std::vector<int> order_of_first_rank() const;
  void begin_step();
  void start_complete();
  void start(int number);
  enum class Direction { in, out };
  void move(const Bucket& bucket, Direction direction);
  /// \return whether all buckets that were started are done
  bool progress();
  [[nodiscard]] std::string describe_late() const;

  std::shared_ptr<ContextState> context_;
  GradientBucketsOptions options_;
  std::vector<Elements> gradients_;
  std::unique_ptr<BucketTimeline> timeline_;
  std::unique_ptr<Executor> communication_;
  std::unique_ptr<Caster> caster_;
  std::vector<Bucket> buckets_;
  std::vector<int> bucket_of_;    ///< by gradient
  std::vector<bool> is_ready_;    ///< by gradient, in this step
  std::vector<int> order_;        ///< in which gradients became ready in this step
  void* first_stream_ = nullptr;  ///< that was given to ready() in this step
  int next_ = 0;                  ///< the first bucket that isn't started in this step
  std::uint64_t step_ = 1;
};

}  // namespace selvage::detail
