#include "allreduce_plan.hpp"
#include "make_on_device.hpp"

#include <selvage/comm/allreduce.hpp>

namespace selvage {

std::shared_ptr<detail::AllreducePlan> Allreduce::make_plan(const detail::Executor& executor,
                                                            const Context& context,
                                                            const AllreduceOptions& options,
                                                            const detail::Elements& elements) {
  return detail::make_on_device<detail::AllreducePlan>(context.device(), context.state(), executor, options,
                                                       elements);
}

Allreduce::Allreduce(Allreduce&&) noexcept = default;
Allreduce& Allreduce::operator=(Allreduce&&) noexcept = default;
Allreduce::~Allreduce() = default;

std::uint64_t Allreduce::start_on(detail::Executor& executor) {
  const detail::DeviceScope scope(plan_->device());
  return plan_->start(executor);
}
void Allreduce::finish_on(detail::Executor& executor, std::uint64_t epoch) {
  const detail::DeviceScope scope(plan_->device());
  plan_->finish(executor, epoch);
}
void Allreduce::check() const {
  const detail::DeviceScope scope(plan_->device());
  plan_->check();
}
AllreduceAlgorithm Allreduce::algorithm() const {
  return plan_->algorithm();
}
std::int64_t Allreduce::bytes_between_hosts() const {
  return plan_->bytes_between_hosts();
}
std::string Allreduce::explain() const {
  return plan_->explain();
}

}  // namespace selvage
