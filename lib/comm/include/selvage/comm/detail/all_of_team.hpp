#pragma once

#include <Kokkos_Core.hpp>

namespace selvage::detail {

/// A barrier; true on all threads of the team when it is true on all of them.
template <class Team>
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool all_of_team(const Team& team, bool mine) {
  KOKKOS_IF_ON_DEVICE((return __syncthreads_and(mine) != 0;))
  KOKKOS_IF_ON_HOST((int least = mine ? 1 : 0; team.team_reduce(Kokkos::Min<int>(least)); return least != 0;))
}

}  // namespace selvage::detail
