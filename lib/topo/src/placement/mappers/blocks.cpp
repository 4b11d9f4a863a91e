#include "placement/mapper.hpp"
#include "placement/traffic/process_grid.hpp"

#include <limits>

namespace selvage::topo {
namespace {

/// All shapes of `volume` ranks that tile the grid, in ascending order.
void collect_shapes(const std::vector<int>& dims, int volume, std::vector<int>& shape,
                    std::vector<std::vector<int>>& shapes) {
  const std::size_t d = shape.size();
  if (d == dims.size()) {
    if (volume == 1) shapes.push_back(shape);
    return;
  }
  for (int extent = 1; extent <= volume && extent <= dims[d]; ++extent) {
    if (volume % extent != 0 || dims[d] % extent != 0) continue;
    shape.push_back(extent);
    collect_shapes(dims, volume / extent, shape, shapes);
    shape.pop_back();
  }
}

/// Block i of the grid to host i, the ranks of a block in their order to the host's slots.
Slots fold(const ProcessGrid& grid, const std::vector<int>& shape, const MapperInput& input) {
  std::vector<int> blocks = grid.dims();
  for (std::size_t d = 0; d < blocks.size(); ++d) blocks[d] /= shape[d];
  const ProcessGrid block_grid(blocks);
  const ProcessGrid inside(shape);
  Slots slots(static_cast<std::size_t>(input.graph.size));
  for (int rank = 0; rank < grid.rank_count(); ++rank) {
    std::vector<int> block = grid.coordinates(rank);
    std::vector<int> within = block;
    for (std::size_t d = 0; d < block.size(); ++d) {
      within[d] %= shape[d];
      block[d] /= shape[d];
    }
    const int host = block_grid.rank_at(block, {});
    slots[rank] = input.fabric.slots_of(host)[inside.rank_at(within, {})];
  }
  return slots;
}

}  // namespace

std::optional<Slots> map_blocks(const MapperInput& input) {
  if (input.grid.empty() || !input.fabric.has_equal_hosts()) return std::nullopt;
  const ProcessGrid grid(input.grid);
  if (grid.rank_count() != input.graph.size) return std::nullopt;
  std::vector<int> shape;
  std::vector<std::vector<int>> shapes;
  collect_shapes(grid.dims(), input.fabric.host(0).slots, shape, shapes);
  std::optional<Slots> best;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const std::vector<int>& candidate : shapes) {
    Slots slots = fold(grid, candidate, input);
    const std::uint64_t cost = total_cost(input, slots);
    if (cost >= least) continue;
    least = cost;
    best = std::move(slots);
  }
  return best;
}

}  // namespace selvage::topo
