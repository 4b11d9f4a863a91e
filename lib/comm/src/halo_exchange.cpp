#include "halo_plan.hpp"
#include "make_on_device.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <algorithm>
#include <map>

namespace selvage {
namespace {

template <int D>
detail::Shape shape_of(const Grid<D>& grid, int rank, const Width<D>& width) {
  detail::Shape shape;
  shape.axes = D;
  for (int axis = 0; axis < D; ++axis) {
    shape.extents[axis] = grid.box_of(rank).extent(axis);
    shape.width[axis] = width[axis];
  }
  return shape;
}

/// -1, 0 or 1 per axis of the grid; nothing for directions that leave the grid's axes, the centre and, with
/// faces only, edges and corners.
template <int D>
std::optional<std::array<int, D>> steps_of(detail::Direction direction, bool corners) {
  std::array<int, D> steps{};
  int nonzero = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int step = detail::component(direction, axis);
    if (step != 0) ++nonzero;
    if (axis < D) {
      steps[axis] = step;
    } else if (step != 0) {
      return std::nullopt;
    }
  }
  if (nonzero == 0 || (nonzero > 1 && !corners)) return std::nullopt;
  return steps;
}

template <int D>
detail::Neighbourhood neighbourhood_of(const Grid<D>& grid, const HaloOptions<D>& options) {
  detail::Neighbourhood result;
  result.shape = shape_of(grid, grid.rank(), options.width);
  std::map<int, detail::Neighbour> by_rank;
  for (detail::Direction direction = 0; direction < 27; ++direction) {
    const auto steps = steps_of<D>(direction, options.corners);
    if (!steps) continue;
    const int rank = grid.neighbour(*steps);
    if (rank == Grid<D>::no_neighbour) continue;
    detail::Link link;
    link.direction = direction;
    link.owned = detail::owned_region(result.shape, direction);
    link.ghost = detail::ghost_region(result.shape, direction);
    link.peer_ghost = detail::ghost_region(shape_of(grid, rank, options.width), detail::opposite(direction));
    by_rank[rank].rank = rank;
    by_rank[rank].links.push_back(link);
  }
  for (auto& [rank, neighbour] : by_rank) result.neighbours.push_back(std::move(neighbour));
  return result;
}

}  // namespace

template <int D>
std::shared_ptr<detail::HaloPlan> HaloExchange::make_plan(const detail::Executor& executor,
                                                          const Grid<D>& grid, const HaloOptions<D>& options,
                                                          std::vector<detail::Field> fields) {
  const detail::HaloChoices choices{.corners = options.corners,
                                    .ghost_reuse = options.ghost_reuse,
                                    .transport = options.transport,
                                    .initiation = options.initiation};
  return detail::make_on_device<detail::HaloPlan>(grid.context().device(), grid.context().state(), executor,
                                                  neighbourhood_of(grid, options), choices,
                                                  std::move(fields));
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
void HaloExchange::exchange_fields(detail::Executor& executor, std::uint64_t fields) {
  const detail::DeviceScope scope(plan_->device());
  plan_->exchange(executor, fields);
}
std::uint64_t HaloExchange::start_fields(detail::Executor& executor, std::uint64_t fields) {
  const detail::DeviceScope scope(plan_->device());
  return plan_->start(executor, fields);
}
void HaloExchange::finish_fields(detail::Executor& executor, std::uint64_t epoch) {
  const detail::DeviceScope scope(plan_->device());
  plan_->finish(executor, epoch);
}
void HaloExchange::reduce_field(detail::Executor& executor, detail::Combiner& combiner,
                                std::uint64_t fields) {
  const detail::DeviceScope scope(plan_->device());
  plan_->reduce(executor, combiner, fields);
}
HaloPort HaloExchange::make_port(detail::Executor& executor, std::span<const std::byte* const> addresses) {
  const detail::DeviceScope scope(plan_->device());
  return plan_->make_port(executor, addresses);
}
void HaloExchange::prepare_fields(std::uint64_t fields) {
  const detail::DeviceScope scope(plan_->device());
  plan_->prepare_capture(fields);
}
void HaloExchange::check() const {
  const detail::DeviceScope scope(plan_->device());
  plan_->check();
}
std::string HaloExchange::explain() const {
  return plan_->explain();
}
std::int64_t HaloExchange::bytes_per_exchange() const {
  return plan_->bytes_per_exchange();
}

}  // namespace selvage
