#pragma once

#include "bucket_contents.hpp"
#include "bucket_layout.hpp"
#include "collectives/collective_plan.hpp"

#include <selvage/comm/gradient_buckets.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace selvage::detail {

enum class BucketStage { reducing, gathering, done };

/// The state behind GradientBuckets and ShardedBuckets.
class BucketPlan {
 public:
  /// Collective; throws what GradientBuckets' constructor says.
  BucketPlan(std::shared_ptr<ContextState> context, const GradientBuckets::Options& options,
             BucketParts&& parts);

  [[nodiscard]] int gradients() const { return static_cast<int>(parts_.gradients.size()); }
  void ready(const Executor& compute, int gradient);
  [[nodiscard]] std::span<const int> finish_all_but_last(const Executor& compute);
  void finish(Executor& compute);
  void check() const;
  [[nodiscard]] std::vector<GradientBuckets::Report> report() const;
  [[nodiscard]] std::string explain() const;
  [[nodiscard]] PublicCall public_call() const { return context_->public_call(); }

 private:
  struct Bucket {
    BucketLayout layout;
    BucketContents gradients;
    BucketContents parameters;
    std::unique_ptr<CollectivePlan> reduction;
    std::unique_ptr<CollectivePlan> gathering;  ///< of parameters; null where gradients are allreduced
    int missing = 0;                            ///< gradients that aren't ready in this step
    std::uint64_t epoch = 0;
    BucketStage stage = BucketStage::reducing;
  };

  [[nodiscard]] bool is_sharded() const { return parts_.update != nullptr; }
  [[nodiscard]] CollectiveKind reduction() const {
    return is_sharded() ? CollectiveKind::reduce_scatter : CollectiveKind::allreduce;
  }
  void require_parameters() const;
  void require_same_everywhere() const;
  void require_all_ready() const;
  [[nodiscard]] std::string name_of(int gradient) const;
  /// Collective: buckets for the order in which rank 0's gradients became ready.
  void make_buckets();
  void agree_offsets(std::vector<BucketLayout>& layouts) const;
  [[nodiscard]] int max_blocks() const;
  [[nodiscard]] std::unique_ptr<CollectivePlan> make_collective(const Elements& elements,
                                                                CollectiveKind kind) const;
  void begin_step();
  void start_complete();
  /// \return whether it is done
  bool progress(Bucket& bucket);
  /// When the gradients of a bucket are reduced.
  void conclude_reduction(Bucket& bucket);
  void update(const Bucket& bucket, const ElementRange& own) const;
  /// Carries on with the buckets that were started. \return whether the first `count` of all are done
  bool progress(int count);
  void wait_for(int count);
  [[nodiscard]] std::string describe_late() const;

  std::shared_ptr<ContextState> context_;
  FirstError error_;
  GradientBuckets::Options options_;
  BucketParts parts_;
  std::vector<Bucket> buckets_;
  std::vector<int> bucket_of_;    ///< by gradient
  std::vector<bool> is_ready_;    ///< by gradient, in this step
  std::vector<int> order_;        ///< in which gradients became ready in this step
  void* first_stream_ = nullptr;  ///< that was given to ready() in this step
  int next_ = 0;                  ///< the first bucket that isn't started in this step
  std::uint64_t step_ = 1;
};

}  // namespace selvage::detail
