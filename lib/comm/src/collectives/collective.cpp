#include "collective_plan.hpp"
#include "collectives/algorithms/part.hpp"
#include "gpu/make_on_device.hpp"

#include <selvage/comm/collective.hpp>

namespace selvage {

std::shared_ptr<detail::CollectivePlan> Collective::make_plan(const detail::Executor& executor,
                                                              const Context& context,
                                                              const AllreduceOptions& options,
                                                              const detail::Elements& elements,
                                                              const detail::Flow& flow) {
  const auto call = context.state()->public_call();
  return detail::make_on_device<detail::CollectivePlan>(context.device(), context.state(), executor, options,
                                                        elements, flow);
}

Collective::Collective(Collective&&) noexcept = default;
Collective& Collective::operator=(Collective&&) noexcept = default;
Collective::~Collective() = default;

std::uint64_t Collective::start_on(detail::Executor& executor) {
  const auto call = plan_->public_call();
  return plan_->start(executor);
}
void Collective::finish_on(detail::Executor& executor, std::uint64_t epoch) {
  const auto call = plan_->public_call();
  plan_->finish(executor, epoch);
}
void Collective::check() const {
  const auto call = plan_->public_call();
  plan_->check();
}
const detail::Elements& Collective::elements_to_fill(const detail::Elements& input) const {
  const auto call = plan_->public_call();
  return plan_->elements_to_fill(input);
}
AllreduceAlgorithm Collective::algorithm() const {
  return plan_->algorithm();
}
std::int64_t Collective::bytes_between_hosts() const {
  return plan_->bytes_between_hosts();
}
std::string Collective::explain() const {
  return plan_->explain();
}
ElementRange Collective::part_of_rank(int rank) const {
  return plan_->part(rank);
}

}  // namespace selvage
