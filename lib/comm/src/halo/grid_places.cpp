#include "grid_places.hpp"

#include "runtime/context_state.hpp"
#include "runtime/measured_job.hpp"

#include <selvage/environment.hpp>
#include <selvage/topo/placement.hpp>

#include <fmt/format.h>

#include <cstring>

namespace selvage::detail {
namespace {

constexpr const char* variable = "SELVAGE_GRID_REORDER";
constexpr const char* operation = "the construction of a Grid";

GridPlaces in_order(std::string why) {
  return {.place_of_rank = {}, .rank_of_place = {}, .why = std::move(why)};
}

topo::Fabric fabric_of(const topo::Machine& machine, const MeasuredJob& job) {
  return job.measured ? topo::fabric_from_machine(machine, job.measured->probes, job.path)
                      : topo::fabric_from_machine(machine);
}

/// Called on rank 0.
GridPlaces placed(const topo::Machine& machine, const MeasuredJob& job, const std::vector<int>& grid,
                  bool may_reorder, const std::function<topo::Traffic()>& traffic) {
  if (const auto said = environment_switch(variable); !said.value_or(may_reorder))
    return in_order(said ? fmt::format("{}=no", variable) : "they are not to be reordered");
  const topo::Fabric fabric = fabric_of(machine, job);
  if (fabric.is_flat())
    return in_order(fmt::format("all places are equally far from each other ({})", fabric.description()));
  const topo::Traffic between = traffic();
  const topo::MappingProblem problem{.traffic = between, .fabric = fabric, .grid = grid};
  const topo::PortfolioResult result = topo::place_by_portfolio(problem);
  if (result.chosen == 0) return in_order(fmt::format("{} ({})", result.reason, fabric.description()));
  const topo::Metrics& before = result.methods.front().metrics;
  const topo::Metrics& now = result.result().metrics;
  GridPlaces places;
  places.rank_of_place = result.result().placement.slots();
  places.why = fmt::format(
      "{}, {} ({}): {:.1f} % of rank order's hop-bytes, {} B between hosts instead of {} in a halo of a byte "
      "per cell",
      result.result().method, result.reason, fabric.description(), 100 * now.hop_bytes / before.hop_bytes,
      now.bytes_between_hosts, before.bytes_between_hosts);
  return places;
}

std::string as_bytes(const std::vector<int>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int)};
}

std::vector<int> from_bytes(const std::string& bytes) {
  std::vector<int> numbers(bytes.size() / sizeof(int));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace

GridPlaces place_on_grid(ContextState& context, const std::vector<int>& grid, bool may_reorder,
                         const std::function<topo::Traffic()>& traffic) {
  GridPlaces places;
  const MeasuredJob& job = measured_job(context, operation);
  context.all_or_none(operation, [&] {
    if (context.rank() == 0) places = placed(context.machine(), job, grid, may_reorder, traffic);
  });
  places.why = context.broadcast(places.why, operation);
  if (!job.remark.empty()) places.why += "; probes " + job.remark;
  places.rank_of_place = from_bytes(context.broadcast(as_bytes(places.rank_of_place), operation));
  places.place_of_rank.resize(places.rank_of_place.size());
  for (std::size_t place = 0; place < places.rank_of_place.size(); ++place)
    places.place_of_rank[static_cast<std::size_t>(places.rank_of_place[place])] = static_cast<int>(place);
  return places;
}

}  // namespace selvage::detail
