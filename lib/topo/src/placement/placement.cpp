#include "checked.hpp"
#include "mapper.hpp"

#include <selvage/error.hpp>
#include <selvage/suggestion.hpp>
#include <selvage/topo/placement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace selvage::topo {
namespace {

constexpr std::string_view swap_suffix = "+swap";

const Mapper& mapper_named(std::string_view name) {
  for (const Mapper& mapper : mappers()) {
    if (mapper.name == name) return mapper;
  }
  const std::vector<std::string> names = mapper_names();
  throw Error(ErrorKind::input,
              fmt::format("there is no method '{}'{}", name.substr(0, 40), did_you_mean(name, names)));
}

}  // namespace

Placement::Placement(std::vector<int> slot_of_rank, int slot_count)
    : slots_(std::move(slot_of_rank)), slot_count_(slot_count) {
  check_fit(slots_.size(), slot_count);
  std::vector<bool> taken(static_cast<std::size_t>(slot_count), false);
  for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
    const int slot = slots_[rank];
    if (slot < 0 || slot >= slot_count) {
      throw Error(ErrorKind::input, fmt::format("rank {} in slot {} of {}", rank, slot, slot_count));
    }
    if (taken[slot])
      throw Error(ErrorKind::input, fmt::format("rank {} in slot {}, which is taken", rank, slot));
    taken[slot] = true;
  }
}

Placement Placement::by_rank(int ranks, int slot_count) {
  std::vector<int> slots(static_cast<std::size_t>(std::max(ranks, 0)));
  std::iota(slots.begin(), slots.end(), 0);
  return Placement(std::move(slots), slot_count);
}

std::vector<std::string> mapper_names() {
  std::vector<std::string> names;
  for (const Mapper& mapper : mappers()) names.emplace_back(mapper.name);
  return names;
}

std::optional<Placement> place(const MappingProblem& problem, std::string_view method) {
  const bool refine = method.ends_with(swap_suffix);
  if (refine) method.remove_suffix(swap_suffix.size());
  const Mapper& mapper = mapper_named(method);
  const int slot_count = problem.fabric.slot_count();
  const GuestGraph graph = thinned(guest_graph(problem.traffic, slot_count, problem.fabric.largest_cost()));
  const MapperInput input{
      .graph = graph, .fabric = problem.fabric, .grid = problem.grid, .seed = problem.seed};
  std::optional<Slots> slots = mapper.map(input);
  if (!slots) return std::nullopt;
  if (refine) slots = refined_by_swaps(input, std::move(*slots));
  // Checked as a permutation of all slots; the vertices beyond the ranks stood for slots that stay free.
  (void)Placement(*slots, slot_count);
  slots->resize(static_cast<std::size_t>(problem.traffic.rank_count()));
  return Placement(std::move(*slots), slot_count);
}

}  // namespace selvage::topo
