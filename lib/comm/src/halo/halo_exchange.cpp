#include "gpu/make_on_device.hpp"
#include "grid_neighbourhood.hpp"
#include "halo_plan.hpp"

#include <selvage/comm/halo_exchange.hpp>

namespace selvage {
template <int D>
std::shared_ptr<detail::HaloPlan> HaloExchange::make_plan(const detail::Executor& executor,
                                                          const Grid<D>& grid, const HaloOptions<D>& options,
                                                          std::vector<detail::Field> fields) {
  const detail::HaloChoices choices{.corners = options.corners,
                                    .ghost_reuse = options.ghost_reuse,
                                    .transport = options.transport,
                                    .initiation = options.initiation};
  const auto state = grid.context().state();
  const auto call = state->public_call();
  detail::Neighbourhood neighbourhood;
  state->all_or_none(detail::halo_construction, [&] {
    neighbourhood = detail::neighbourhood_of(grid, grid.rank(), options.width, options.corners);
  });
  return detail::make_on_device<detail::HaloPlan>(grid.context().device(), state, executor,
                                                  std::move(neighbourhood), choices, std::move(fields));
}

template std::shared_ptr<detail::HaloPlan> HaloExchange::make_plan(const detail::Executor&, const Grid<1>&,
                                                                   const HaloOptions<1>&,
                                                                   std::vector<detail::Field>);
template std::shared_ptr<detail::HaloPlan> HaloExchange::make_plan(const detail::Executor&, const Grid<2>&,
                                                                   const HaloOptions<2>&,
                                                                   std::vector<detail::Field>);
template std::shared_ptr<detail::HaloPlan> HaloExchange::make_plan(const detail::Executor&, const Grid<3>&,
                                                                   const HaloOptions<3>&,
                                                                   std::vector<detail::Field>);

HaloExchange::HaloExchange(HaloExchange&&) noexcept = default;
HaloExchange& HaloExchange::operator=(HaloExchange&&) noexcept = default;
HaloExchange::~HaloExchange() = default;

std::uint64_t HaloExchange::field_bit(const std::byte* address) const {
  return plan_->field_bit(address);
}
void HaloExchange::rebind_fields(const detail::Executor& executor, std::vector<detail::Field> fields) {
  const auto call = plan_->public_call();
  plan_->rebind(executor, std::move(fields));
}
void HaloExchange::exchange_fields(detail::Executor& executor, std::uint64_t fields) {
  const auto call = plan_->public_call();
  plan_->exchange(executor, fields);
}
std::uint64_t HaloExchange::start_fields(detail::Executor& executor, std::uint64_t fields) {
  const auto call = plan_->public_call();
  return plan_->start(executor, fields);
}
void HaloExchange::finish_fields(detail::Executor& executor, std::uint64_t epoch) {
  const auto call = plan_->public_call();
  plan_->finish(executor, epoch);
}
void HaloExchange::reduce_field(detail::Executor& executor, detail::Combiner& combiner,
                                std::uint64_t fields) {
  const auto call = plan_->public_call();
  plan_->reduce(executor, combiner, fields);
}
HaloPort HaloExchange::make_port(detail::Executor& executor, std::span<const std::byte* const> addresses) {
  const auto call = plan_->public_call();
  return plan_->make_port(executor, addresses);
}
void HaloExchange::prepare_fields(std::uint64_t fields) {
  const auto call = plan_->public_call();
  plan_->prepare_capture(fields);
}
void HaloExchange::check() const {
  const auto call = plan_->public_call();
  plan_->check();
}
bool HaloExchange::failed() const {
  return plan_->failed();
}
std::string HaloExchange::explain() const {
  return plan_->explain();
}
std::int64_t HaloExchange::bytes_per_exchange() const {
  return plan_->bytes_per_exchange();
}

}  // namespace selvage
