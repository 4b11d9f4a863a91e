#include "conservation.hpp"
#include "gpu/make_on_device.hpp"
#include "list_plan.hpp"
#include "runtime/context_state.hpp"

#include <selvage/comm/migration.hpp>
#include <selvage/counted.hpp>

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace selvage {
namespace {

#ifdef NDEBUG
constexpr bool asserts_conservation = false;
#else
constexpr bool asserts_conservation = true;
#endif

}  // namespace

void detail::require_conserved(ContextState& context, std::int64_t before, std::int64_t after) {
  std::array<char, 128> mine{};
  const std::array counts{before, after};
  std::memcpy(mine.data(), counts.data(), sizeof counts);
  std::array<std::int64_t, 2> totals{};
  for (const auto& theirs : context.gather(mine, "the count of particles in a Migration")) {
    std::array<std::int64_t, 2> of_rank{};
    std::memcpy(of_rank.data(), theirs.data(), sizeof of_rank);
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += of_rank[i];
  }
  if (totals[0] == totals[1]) return;
  throw Error(ErrorKind::verification,
              fmt::format("a Migration turns {} into {}", counted(totals[0], "particle"), totals[1]));
}

std::shared_ptr<detail::ListPlan> Migration::make_plan_on(detail::Executor& executor, const Context& context,
                                                          const ListHalo::Options& options) {
  const auto call = context.state()->public_call();
  return detail::make_on_device<detail::ListPlan>(context.device(), context.state(), executor, options,
                                                  detail::ListPlan::Purpose::migration);
}

Migration::Migration(Migration&&) noexcept = default;
Migration& Migration::operator=(Migration&&) noexcept = default;
Migration::~Migration() = default;

std::int64_t Migration::plan_from(detail::Executor& executor, const detail::ListSource& source,
                                  std::int64_t count) {
  const auto call = plan_->public_call();
  plan_->rebuild(executor, source, count);
  if (asserts_conservation) plan_->require_conserved();
  return after();
}
detail::ListIndex& Migration::index() const {
  return plan_->index();
}
std::int64_t Migration::before() const {
  return plan_->index().owned;
}
std::int64_t Migration::after() const {
  return plan_->index().ghosts;
}
void Migration::move_on(detail::Executor& executor, detail::ListMover& mover) {
  const auto call = plan_->public_call();
  plan_->exchange(executor, mover, detail::ListOperation::migrate);
}
void Migration::check() const {
  const auto call = plan_->public_call();
  plan_->check();
}
std::string Migration::explain() const {
  return plan_->explain();
}

}  // namespace selvage
