#include "gpu/make_on_device.hpp"
#include "tile_plan.hpp"

#include <selvage/comm/tiled_allreduce.hpp>

namespace selvage {

std::shared_ptr<detail::TilePlan> TiledAllreduce::make_plan(const detail::Executor& executor,
                                                            const Context& context,
                                                            const TiledAllreduce::Options& options,
                                                            const detail::Elements& elements) {
  const auto call = context.state()->public_call();
  return detail::make_on_device<detail::TilePlan>(context.device(), context.state(), executor, options,
                                                  elements);
}

TiledAllreduce::TiledAllreduce(TiledAllreduce&&) noexcept = default;
TiledAllreduce& TiledAllreduce::operator=(TiledAllreduce&&) noexcept = default;
TiledAllreduce::~TiledAllreduce() = default;

TiledAllreduce::Port TiledAllreduce::device() const {
  return plan_->port();
}
void TiledAllreduce::start_on(detail::Executor& executor) {
  const auto call = plan_->public_call();
  plan_->start(executor);
}
void TiledAllreduce::finish_on(detail::Executor& executor) {
  const auto call = plan_->public_call();
  plan_->finish(executor);
}
void TiledAllreduce::check() const {
  const auto call = plan_->public_call();
  plan_->check();
}
std::string TiledAllreduce::explain() const {
  return plan_->explain();
}

}  // namespace selvage
