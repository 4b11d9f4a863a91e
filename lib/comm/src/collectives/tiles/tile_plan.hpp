#pragma once

#include "collectives/collective_plan.hpp"
#include "tile_runner.hpp"

#include <selvage/comm/tiled_allreduce.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace selvage::detail {

/// The state behind TiledAllreduce.
class TilePlan {
 public:
  /// Collective; throws what TiledAllreduce's constructor says.
  TilePlan(std::shared_ptr<ContextState> context, const Executor& executor,
           const TiledAllreduce::Options& options, const Elements& elements);
  TilePlan(const TilePlan&) = delete;
  TilePlan& operator=(const TilePlan&) = delete;
  ~TilePlan();

  [[nodiscard]] TiledAllreduce::Port port() const;
  void start(Executor& executor);
  void finish(Executor& executor);
  void check() const;
  [[nodiscard]] std::string explain() const;
  [[nodiscard]] PublicCall public_call() const { return context_->public_call(); }

 private:
  /// Why tiles can't be combined one by one; empty when they can.
  [[nodiscard]] std::string refuse(const Executor& executor) const;
  void make_tiles(const Executor& executor);
  [[nodiscard]] TileParts parts(const Executor& executor) const;

  std::shared_ptr<ContextState> context_;
  TiledAllreduce::Options options_;
  Elements elements_;
  std::unique_ptr<TileRunner> tiles_;
  std::unique_ptr<CollectivePlan> whole_;  ///< where tiles can't be combined one by one
  std::string refusal_;
  bool in_flight_ = false;
  bool on_host_;
};

}  // namespace selvage::detail
