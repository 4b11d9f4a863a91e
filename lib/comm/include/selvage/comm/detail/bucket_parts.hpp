#pragma once

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/detail/bucket_timeline.hpp>
#include <selvage/comm/detail/cast.hpp>
#include <selvage/comm/detail/executor.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace selvage::detail {

/// What a caller does with a shard.
class ShardUpdate {
 public:
  ShardUpdate() = default;
  ShardUpdate(const ShardUpdate&) = delete;
  ShardUpdate& operator=(const ShardUpdate&) = delete;
  virtual ~ShardUpdate() = default;

  virtual void apply(int gradient, const ElementRange& shard) = 0;
};

template <class Space, class Update>
class UpdateOnSpace final : public ShardUpdate {
 public:
  UpdateOnSpace(const Space& space, Update update) : space_(space), update_(std::move(update)) {}
  void apply(int gradient, const ElementRange& shard) override { update_(space_, gradient, shard); }

 private:
  Space space_;
  Update update_;
};

/// What buckets are made from.
struct BucketParts {
  std::vector<Elements> gradients;
  std::vector<Elements> parameters;  ///< by gradient; empty where gradients are allreduced
  std::unique_ptr<BucketTimeline> timeline;
  std::unique_ptr<Executor> communication;
  std::unique_ptr<Caster> caster;
  std::unique_ptr<ShardUpdate> update;  ///< of parameters; null where gradients are allreduced
};

}  // namespace selvage::detail
