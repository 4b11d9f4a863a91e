#pragma once

#include <selvage/topo/traffic.hpp>

#include <functional>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// Which rank has which place of a process grid.
struct GridPlaces {
  std::vector<int> place_of_rank;  ///< empty: rank i has place i
  std::vector<int> rank_of_place;
  std::string why;

  [[nodiscard]] int place_of(int rank) const { return place_of_rank.empty() ? rank : place_of_rank[rank]; }
  [[nodiscard]] int rank_at(int place) const { return rank_of_place.empty() ? place : rank_of_place[place]; }
};

/// Collective: rank 0 places, and its environment counts; every rank gets the same.
/// \param grid     places per axis
/// \param traffic  between the places; asked on rank 0 only, where ranks may be placed
/// \throws Error{input} on every rank for a SELVAGE_GRID_REORDER other than yes and no
[[nodiscard]] GridPlaces place_on_grid(ContextState& context, const std::vector<int>& grid, bool may_reorder,
                                       const std::function<topo::Traffic()>& traffic);

}  // namespace selvage::detail
