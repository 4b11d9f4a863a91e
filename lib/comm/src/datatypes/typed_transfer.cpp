#include "gpu/make_on_device.hpp"
#include "transfer_plan.hpp"

#include <selvage/comm/typed_transfer.hpp>

namespace selvage {

std::shared_ptr<detail::TransferPlan> TypedTransfer::make_plan(
    const detail::Executor& executor, const Context& context, const std::vector<TypedTransfer::End>& sends,
    const std::vector<TypedTransfer::End>& receives, const TypedTransfer::Options& options) {
  const auto call = context.state()->public_call();
  return detail::make_on_device<detail::TransferPlan>(context.device(), context.state(), executor, sends,
                                                      receives, options);
}

TypedTransfer::TypedTransfer(TypedTransfer&&) noexcept = default;
TypedTransfer& TypedTransfer::operator=(TypedTransfer&&) noexcept = default;
TypedTransfer::~TypedTransfer() = default;

void TypedTransfer::start_on(detail::Executor& executor) {
  const auto call = plan_->public_call();
  plan_->start(executor);
}
void TypedTransfer::finish_on(detail::Executor& executor) {
  const auto call = plan_->public_call();
  plan_->finish(executor);
}
void TypedTransfer::check() const {
  const auto call = plan_->public_call();
  plan_->check();
}
std::string TypedTransfer::explain() const {
  return plan_->explain();
}

}  // namespace selvage
