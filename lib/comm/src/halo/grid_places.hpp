#pragma once

#include <selvage/topo/traffic.hpp>

#include <functional>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// The position of each rank in a process grid.
struct GridPlaces {
  std::vector<int> place_of_rank;  ///< empty: rank i has position i
  std::vector<int> rank_of_place;
  std::string why;

  [[nodiscard]] int place_of(int rank) const { return place_of_rank.empty() ? rank : place_of_rank[rank]; }
  [[nodiscard]] int rank_at(int place) const { return rank_of_place.empty() ? place : rank_of_place[place]; }
};

/// Collective: rank 0 chooses the positions, by its environment variables; every rank gets the same result.
/// \param grid     ranks per axis
/// \param traffic  between the positions; called on rank 0 only, and only where ranks may be placed
/// \throws Error{input} on every rank for a SELVAGE_GRID_REORDER other than yes and no
[[nodiscard]] GridPlaces place_on_grid(ContextState& context, const std::vector<int>& grid, bool may_reorder,
                                       const std::function<topo::Traffic()>& traffic);

}  // namespace selvage::detail
