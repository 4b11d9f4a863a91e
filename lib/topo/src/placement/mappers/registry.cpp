#include "placement/mapper.hpp"

#include <array>

namespace selvage::topo {

std::span<const Mapper> mappers() {
  static constexpr std::array<Mapper, 7> all = {{
      {"default", map_by_rank},
      {"random", map_randomly, false},
      {"blocks", map_blocks},
      {"greedy", map_greedily},
      {"scotch", map_by_scotch},
      {"scotch_hosts", map_hosts_by_scotch},
      {"exhaustive", map_exhaustively, false},
  }};
  return all;
}

}  // namespace selvage::topo
