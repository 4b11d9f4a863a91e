#include "grid_neighbourhood.hpp"
#include "grid_places.hpp"
#include "process_grid.hpp"
#include "runtime/context_state.hpp"

#include <selvage/comm/grid.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

namespace selvage {
namespace {

template <int D>
void require_cells(const GridOptions<D>& options) {
  for (int axis = 0; axis < D; ++axis) {
    if (options.cells[axis] < 1) {
      throw Error(ErrorKind::input, fmt::format("a grid of {} cells: axis {} needs at least 1",
                                                fmt::join(options.cells, " x "), axis));
    }
  }
}

template <int D>
void require_same_everywhere(const Context& context, const GridOptions<D>& options) {
  std::vector<int> values;
  for (int axis = 0; axis < D; ++axis) {
    values.push_back(static_cast<int>(options.cells[axis] & 0x7fffffff));
    values.push_back(static_cast<int>(options.cells[axis] >> 31));
    values.push_back(options.periodic[axis] ? 1 : 0);
    values.push_back(options.ranks[axis]);
  }
  values.push_back(options.reorder ? 1 : 0);
  for (const auto& range : context.state()->extremes(values, "the construction of a Grid")) {
    if (range.smallest == range.largest) continue;
    throw Error(ErrorKind::usage, fmt::format("ranks {} and {} gave different options for one Grid",
                                              range.smallest_rank, range.largest_rank));
  }
}

}  // namespace

std::size_t detail::view_bytes(std::span<const std::int64_t> extents, std::size_t element_bytes) {
  auto bytes = static_cast<std::ptrdiff_t>(element_bytes);
  for (const std::int64_t extent : extents) {
    if (extent >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes)) continue;
    throw Error(ErrorKind::usage, fmt::format("a View of {} elements of {} bytes can't be allocated",
                                              fmt::join(extents, " x "), element_bytes));
  }
  return static_cast<std::size_t>(bytes);
}

template <int D>
Grid<D>::Grid(const Context& context, const GridOptions<D>& options) : context_(context), options_(options) {
  require_same_everywhere(context, options);
  require_cells(options);
  const detail::ProcessGridRequest request{
      .cells = std::vector<std::int64_t>(options.cells.begin(), options.cells.end()),
      .periodic = std::vector<bool>(options.periodic.begin(), options.periodic.end()),
      .ranks = std::vector<int>(options.ranks.begin(), options.ranks.end()),
      .rank_count = context.size()};
  const std::vector<int> ranks = detail::choose_process_grid(request);
  std::ranges::copy(ranks, options_.ranks.begin());
  // Until positions are chosen, rank i has position i.
  const auto traffic = [&] { return halo_traffic(1, 1, false, topo::Memory::host); };
  places_ = std::make_shared<const detail::GridPlaces>(
      detail::place_on_grid(*context.state(), ranks, options.reorder, traffic));
}

template <int D>
std::array<int, D> Grid<D>::coordinates_of(int rank) const {
  int place = places_ ? places_->place_of(rank) : rank;
  std::array<int, D> coordinates{};
  for (int axis = D - 1; axis >= 0; --axis) {
    coordinates[axis] = place % options_.ranks[axis];
    place /= options_.ranks[axis];
  }
  return coordinates;
}

template <int D>
Box<D> Grid<D>::box_of(int rank) const {
  const auto coordinates = coordinates_of(rank);
  Box<D> box;
  for (int axis = 0; axis < D; ++axis) {
    const std::int64_t parts = options_.ranks[axis];
    const std::int64_t share = options_.cells[axis] / parts;
    const std::int64_t longer = options_.cells[axis] % parts;
    const std::int64_t part = coordinates[axis];
    box.begin[axis] = part * share + std::min(part, longer);
    box.end[axis] = box.begin[axis] + share + (part < longer ? 1 : 0);
  }
  return box;
}

template <int D>
int Grid<D>::neighbour_of(int rank, const std::array<int, D>& direction) const {
  const auto coordinates = coordinates_of(rank);
  int place = 0;
  for (int axis = 0; axis < D; ++axis) {
    const int parts = options_.ranks[axis];
    int there = coordinates[axis] + direction[axis];
    if (there < 0 || there >= parts) {
      if (!options_.periodic[axis]) return no_neighbour;
      there = (there + parts) % parts;
    }
    place = place * parts + there;
  }
  return places_ ? places_->rank_at(place) : place;
}

template <int D>
bool Grid<D>::has_neighbour(int axis, int side) const {
  std::array<int, D> direction{};
  direction[axis] = side;
  return neighbour(direction) != no_neighbour;
}

template <int D>
Box<D> Grid<D>::local_box(const Width<D>& width) const {
  Box<D> local;
  for (int axis = 0; axis < D; ++axis) {
    local.begin[axis] = width[axis].low;
    local.end[axis] = width[axis].low + box().extent(axis);
  }
  return local;
}

template <int D>
Box<D> Grid<D>::grown(Box<D> box, const Width<D>& width) const {
  for (int axis = 0; axis < D; ++axis) {
    if (has_neighbour(axis, -1)) box.begin[axis] -= width[axis].low;
    if (has_neighbour(axis, +1)) box.end[axis] += width[axis].high;
  }
  return box;
}

template <int D>
Box<D> Grid<D>::shrunk(Box<D> box, const Width<D>& width) const {
  for (int axis = 0; axis < D; ++axis) {
    if (has_neighbour(axis, -1)) box.begin[axis] += width[axis].low;
    if (has_neighbour(axis, +1)) box.end[axis] -= width[axis].high;
    box.end[axis] = std::max(box.begin[axis], box.end[axis]);
  }
  return box;
}

template <int D>
topo::Traffic Grid<D>::halo_traffic(const Width<D>& width, std::int64_t bytes_per_cell, bool corners,
                                    topo::Memory memory) const {
  std::vector<topo::TrafficEntry> entries;
  for (int rank = 0; rank < size(); ++rank) {
    for (const detail::Neighbour& there : detail::neighbourhood_of(*this, rank, width, corners).neighbours) {
      topo::Amount sent{.bytes = 0, .messages = 1};
      for (const detail::Boundary& boundary : there.boundaries)
        sent.bytes += static_cast<std::uint64_t>(boundary.owned.elements() * bytes_per_cell);
      if (sent.bytes == 0) continue;
      topo::TrafficEntry entry{.from = rank, .to = there.rank, .host = {}, .device = {}};
      (memory == topo::Memory::host ? entry.host : entry.device) = sent;
      entries.push_back(entry);
    }
  }
  return {size(), std::move(entries)};
}

template <int D>
std::string Grid<D>::explain() const {
  return fmt::format("process grid {}, ranks {}: {}", fmt::join(options_.ranks, " x "),
                     places_->place_of_rank.empty() ? "in order" : "placed", places_->why);
}

template class Grid<1>;
template class Grid<2>;
template class Grid<3>;

}  // namespace selvage
