#include "bucket_plan.hpp"
#include "gpu/make_on_device.hpp"

#include <selvage/comm/gradient_buckets.hpp>

namespace selvage {

std::shared_ptr<detail::BucketPlan> GradientBuckets::make_plan(const Context& context,
                                                               const GradientBuckets::Options& options,
                                                               detail::BucketParts&& parts) {
  const auto call = context.state()->public_call();
  return detail::make_on_device<detail::BucketPlan>(context.device(), context.state(), options,
                                                    std::move(parts));
}

GradientBuckets::GradientBuckets(GradientBuckets&&) noexcept = default;
GradientBuckets& GradientBuckets::operator=(GradientBuckets&&) noexcept = default;
GradientBuckets::~GradientBuckets() = default;

void GradientBuckets::ready_on(detail::Executor& executor, int gradient) {
  const auto call = plan_->public_call();
  plan_->ready(executor, gradient);
}
void GradientBuckets::run_on(detail::Executor& executor) {
  const auto call = plan_->public_call();
  for (int gradient = 0; gradient < plan_->gradients(); ++gradient) plan_->ready(executor, gradient);
  plan_->finish(executor);
}
std::span<const int> GradientBuckets::finish_all_but_last_on(detail::Executor& executor) {
  const auto call = plan_->public_call();
  return plan_->finish_all_but_last(executor);
}
void GradientBuckets::finish_on(detail::Executor& executor) {
  const auto call = plan_->public_call();
  plan_->finish(executor);
}
void GradientBuckets::check() const {
  const auto call = plan_->public_call();
  plan_->check();
}
std::vector<GradientBuckets::Report> GradientBuckets::report() const {
  const auto call = plan_->public_call();
  return plan_->report();
}
std::string GradientBuckets::explain() const {
  return plan_->explain();
}

}  // namespace selvage
