#include "gpu/make_on_device.hpp"
#include "list_plan.hpp"
#include "runtime/context_state.hpp"

#include <selvage/comm/list_halo.hpp>

namespace selvage {

std::shared_ptr<detail::ListPlan> ListHalo::make_plan_on(detail::Executor& executor, const Context& context,
                                                         const ListHalo::Options& options) {
  const auto call = context.state()->public_call();
  return detail::make_on_device<detail::ListPlan>(context.device(), context.state(), executor, options,
                                                  detail::ListPlan::Purpose::halo);
}

ListHalo::ListHalo(ListHalo&&) noexcept = default;
ListHalo& ListHalo::operator=(ListHalo&&) noexcept = default;
ListHalo::~ListHalo() = default;

void ListHalo::rebuild_from(detail::Executor& executor, const detail::ListSource& source,
                            std::int64_t owned) {
  const auto call = plan_->public_call();
  plan_->rebuild(executor, source, owned);
}
detail::ListIndex& ListHalo::index() const {
  return plan_->index();
}
std::int64_t ListHalo::ghosts() const {
  return plan_->index().ghosts;
}
std::int64_t ListHalo::owned() const {
  return plan_->index().owned;
}
std::int64_t ListHalo::entries() const {
  return plan_->index().entries;
}
void ListHalo::start_gather_on(detail::Executor& executor, detail::ListMover& mover) {
  const auto call = plan_->public_call();
  plan_->start(executor, mover, detail::ListOperation::gather);
}
void ListHalo::start_scatter_on(detail::Executor& executor, detail::ListMover& mover) {
  const auto call = plan_->public_call();
  plan_->start(executor, mover, detail::ListOperation::scatter_add);
}
void ListHalo::gather_on(detail::Executor& executor, detail::ListMover& mover) {
  const auto call = plan_->public_call();
  plan_->exchange(executor, mover, detail::ListOperation::gather);
}
void ListHalo::scatter_add_on(detail::Executor& executor, detail::ListMover& mover) {
  const auto call = plan_->public_call();
  plan_->exchange(executor, mover, detail::ListOperation::scatter_add);
}
void ListHalo::require_own(const detail::ListPlan* plan, bool is_pending) const {
  if (plan == plan_.get() && is_pending) return;
  throw Error(
      ErrorKind::usage,
      "finish() needs what start_gather() or start_scatter_add() of the same ListHalo returned, once");
}
void ListHalo::finish_on(detail::Executor& executor, detail::ListMover& mover) {
  const auto call = plan_->public_call();
  plan_->finish(executor, mover);
}
bool ListHalo::has_device() const {
  return plan_->may_open_port();
}
detail::ListPortTable ListHalo::open_port_on(detail::Executor& executor, std::size_t element_bytes) {
  const auto call = plan_->public_call();
  return plan_->open_port(executor, element_bytes);
}
void ListHalo::check() const {
  const auto call = plan_->public_call();
  plan_->check();
}
std::string ListHalo::explain() const {
  return plan_->explain();
}

}  // namespace selvage
