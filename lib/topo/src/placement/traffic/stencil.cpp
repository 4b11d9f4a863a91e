#include "placement/checked.hpp"
#include "process_grid.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/traffic.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace selvage::topo {
namespace {

/// The next offset of {-1, 0, 1}^D, counting up; false after the last.
bool advance(std::vector<int>& offset) {
  for (std::size_t d = offset.size(); d-- > 0;) {
    if (++offset[d] <= 1) return true;
    offset[d] = -1;
  }
  return false;
}

void check(const CartesianStencil& stencil) {
  const std::size_t dimensions = stencil.dims.size();
  if (!stencil.periodic.empty() && stencil.periodic.size() != dimensions) {
    throw Error(ErrorKind::input, fmt::format("a stencil of {} dimensions with {} periodicities", dimensions,
                                              stencil.periodic.size()));
  }
  for (const StencilDirection& direction : stencil.directions) {
    if (direction.offset.size() == dimensions) continue;
    throw Error(ErrorKind::input, fmt::format("a stencil of {} dimensions with an offset of {}", dimensions,
                                              direction.offset.size()));
  }
}

}  // namespace

std::vector<StencilDirection> face_directions(std::span<const std::uint64_t> face_bytes) {
  std::vector<StencilDirection> directions;
  for (std::size_t d = 0; d < face_bytes.size(); ++d) {
    for (const int side : {-1, 1}) {
      std::vector<int> offset(face_bytes.size(), 0);
      offset[d] = side;
      directions.push_back({offset, face_bytes[d]});
    }
  }
  return directions;
}

std::vector<StencilDirection> box_directions(std::span<const std::uint64_t> cells, std::uint64_t width_cells,
                                             std::uint64_t bytes_per_cell, bool corners) {
  std::vector<StencilDirection> directions;
  std::vector<int> offset(cells.size(), -1);
  do {
    const auto along = cells.size() - static_cast<std::size_t>(std::count(offset.begin(), offset.end(), 0));
    if (along == 0 || (along > 1 && !corners)) continue;
    std::uint64_t bytes = bytes_per_cell;
    for (std::size_t d = 0; d < cells.size(); ++d) {
      bytes = checked_product(bytes, offset[d] == 0 ? cells[d] : width_cells, "the bytes of a halo");
    }
    directions.push_back({offset, bytes});
  } while (advance(offset));
  return directions;
}

Traffic Traffic::from_stencil(const CartesianStencil& stencil) {
  check(stencil);
  const ProcessGrid grid(stencil.dims);
  std::vector<TrafficEntry> entries;
  for (int rank = 0; rank < grid.rank_count(); ++rank) {
    const std::vector<int> here = grid.coordinates(rank);
    for (const StencilDirection& direction : stencil.directions) {
      std::vector<int> there = here;
      for (std::size_t d = 0; d < there.size(); ++d) there[d] += direction.offset[d];
      const int neighbour = grid.rank_at(there, stencil.periodic);
      if (neighbour < 0) continue;
      TrafficEntry entry{.from = rank, .to = neighbour, .host = {}, .device = {}};
      (stencil.memory == Memory::host ? entry.host : entry.device) = {direction.bytes, 1};
      entries.push_back(entry);
    }
  }
  return Traffic(grid.rank_count(), std::move(entries));
}

}  // namespace selvage::topo
