#include "grid_neighbourhood.hpp"
#include "grid_places.hpp"
#include "process_grid.hpp"
#include "runtime/context_state.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/counted.hpp>

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

constexpr const char* construction = "the construction of a Grid";

/// Of any number of values a few that are likely to differ where these do.
std::uint64_t digest_of(const std::vector<std::int64_t>& values) {
  std::uint64_t digest = values.size();
  for (const std::int64_t value : values)
    digest = (digest ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15U + (digest >> 29);
  return digest;
}

template <int D>
void require_same_everywhere(const Context& context, const GridOptions<D>& options, bool brings_box) {
  std::vector<int> values{brings_box ? 1 : 0};
  const auto append = [&](std::uint64_t value) {
    values.push_back(static_cast<int>(value & 0x7fffffff));
    values.push_back(static_cast<int>(value >> 31 & 0x7fffffff));
  };
  for (int axis = 0; axis < D; ++axis) {
    append(static_cast<std::uint64_t>(options.cells[axis]));
    append(digest_of(options.splits[axis]));
    values.push_back(options.periodic[axis] ? 1 : 0);
    values.push_back(options.ranks[axis]);
  }
  values.push_back(options.reorder ? 1 : 0);
  for (const auto& range : context.state()->extremes(values, construction)) {
    if (range.smallest == range.largest) continue;
    throw Error(ErrorKind::usage, fmt::format("ranks {} and {} gave different options for one Grid",
                                              range.smallest_rank, range.largest_rank));
  }
}

/// The ranks per axis that are asked for, by number or by cuts; 0 where free.
template <int D>
std::vector<int> wanted_ranks(const GridOptions<D>& options) {
  std::vector<int> ranks(options.ranks.begin(), options.ranks.end());
  for (int axis = 0; axis < D; ++axis) {
    const std::vector<std::int64_t>& splits = options.splits[axis];
    if (splits.empty()) continue;
    const int parts = static_cast<int>(splits.size()) + 1;
    if (ranks[axis] != 0 && ranks[axis] != parts) {
      throw Error(ErrorKind::input, fmt::format("axis {} of a grid is cut into {} parts, for {}", axis, parts,
                                                counted(ranks[axis], "rank")));
    }
    ranks[axis] = parts;
    std::int64_t before = 0;
    for (const std::int64_t split : splits) {
      if (split <= before || split >= options.cells[axis]) {
        throw Error(
            ErrorKind::input,
            fmt::format("a grid of {} cells can't be cut along axis {} at {}: cuts ascend, from 1 to {}",
                        fmt::join(options.cells, " x "), axis, fmt::join(splits, ", "),
                        options.cells[axis] - 1));
      }
      before = split;
    }
  }
  return ranks;
}

template <int D>
void require_no_process_grid(const GridOptions<D>& options) {
  for (int axis = 0; axis < D; ++axis) {
    if (options.ranks[axis] == 0 && options.splits[axis].empty()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("a Grid of boxes is given {} for axis {}, too",
                            options.ranks[axis] != 0 ? counted(options.ranks[axis], "rank") : "cuts", axis));
  }
}

template <int D>
std::string text_of(const Box<D>& box) {
  return fmt::format("({}) to ({})", fmt::join(box.begin, ", "), fmt::join(box.end, ", "));
}

/// \throws Error{input} unless the boxes hold each cell once
template <int D>
void require_tiling(const std::vector<Box<D>>& boxes, const std::array<std::int64_t, D>& cells) {
  std::int64_t held = 0;
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    const Box<D>& box = boxes[rank];
    bool is_inside = true;
    for (int axis = 0; axis < D; ++axis)
      is_inside = is_inside && box.begin[axis] >= 0 && box.end[axis] <= cells[axis];
    if (is_empty(box) || !is_inside) {
      throw Error(
          ErrorKind::input,
          fmt::format("rank {} brings the box from {} of a grid of {} cells, which {}", rank, text_of(box),
                      fmt::join(cells, " x "), is_inside ? "holds no cell" : "leaves the grid"));
    }
    for (std::size_t other = 0; other < rank; ++other) {
      if (is_empty(detail::common(box, boxes[other]))) continue;
      throw Error(ErrorKind::input, fmt::format("the boxes of ranks {} and {} overlap: from {} and from {}",
                                                other, rank, text_of(boxes[other]), text_of(box)));
    }
    held += box.cells();
  }
  const Box<D> all{.begin = {}, .end = cells};
  if (held == all.cells()) return;
  throw Error(ErrorKind::input, fmt::format("the boxes of {} hold {} of the {} cells of a grid of {}",
                                            counted(static_cast<std::int64_t>(boxes.size()), "rank"), held,
                                            all.cells(), fmt::join(cells, " x ")));
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
  require_same_everywhere(context, options, false);
  require_cells(options);
  const detail::ProcessGridRequest request{
      .cells = std::vector<std::int64_t>(options.cells.begin(), options.cells.end()),
      .periodic = std::vector<bool>(options.periodic.begin(), options.periodic.end()),
      .ranks = wanted_ranks(options),
      .rank_count = context.size()};
  const std::vector<int> ranks = detail::choose_process_grid(request);
  std::ranges::copy(ranks, options_.ranks.begin());
  // Until positions are chosen, rank i has position i.
  const auto traffic = [&] { return halo_traffic(1, 1, false, topo::Memory::host); };
  places_ = std::make_shared<const detail::GridPlaces>(
      detail::place_on_grid(*context.state(), ranks, options.reorder, traffic));
}

template <int D>
Grid<D>::Grid(const Context& context, const GridOptions<D>& options, const Box<D>& box)
    : context_(context), options_(options) {
  require_same_everywhere(context, options, true);
  require_cells(options);
  require_no_process_grid(options);
  boxes_ = std::make_shared<const std::vector<Box<D>>>(context.state()->gather(box, construction));
  require_tiling<D>(*boxes_, options.cells);
}

template <int D>
void Grid<D>::require_process_grid() const {
  if (!has_process_grid())
    throw Error(ErrorKind::usage, "a Grid of boxes has no coordinates, and no neighbour in a direction");
}

template <int D>
void Grid<D>::require_width(const detail::Side& side) {
  if (side.low < 0 || side.high < 0)
    throw Error(ErrorKind::usage,
                fmt::format("ghosts of {} and {} cells: a width is at least 0", side.low, side.high));
}

template <int D>
std::array<int, D> Grid<D>::coordinates_of(int rank) const {
  require_process_grid();
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
  if (!has_process_grid()) return (*boxes_)[static_cast<std::size_t>(rank)];
  const auto coordinates = coordinates_of(rank);
  Box<D> box;
  for (int axis = 0; axis < D; ++axis) {
    const std::vector<std::int64_t>& splits = options_.splits[axis];
    if (!splits.empty()) {
      const auto part = static_cast<std::size_t>(coordinates[axis]);
      box.begin[axis] = part == 0 ? 0 : splits[part - 1];
      box.end[axis] = part == splits.size() ? options_.cells[axis] : splits[part];
      continue;
    }
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
    if (direction[axis] < -1 || direction[axis] > 1)
      throw Error(ErrorKind::usage,
                  fmt::format("there are neighbours in the directions -1, 0 and 1, not {} on axis {}",
                              direction[axis], axis));
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
  if (!has_process_grid()) {
    if (options_.periodic[axis]) return true;
    return side < 0 ? box().begin[axis] > 0 : box().end[axis] < options_.cells[axis];
  }
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
  if (!has_process_grid()) return "boxes of the caller's, ranks in order";
  return fmt::format("process grid {}, ranks {}: {}", fmt::join(options_.ranks, " x "),
                     places_->place_of_rank.empty() ? "in order" : "placed", places_->why);
}

template class Grid<1>;
template class Grid<2>;
template class Grid<3>;

}  // namespace selvage
