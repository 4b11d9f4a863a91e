#pragma once

#include "halo_fixture.hpp"

namespace selvage::test {

using Policy = Kokkos::TeamPolicy<Space>;
using Member = Policy::member_type;

/// Threads per team where the kernel says nothing.
inline constexpr int team_size = on_host ? 1 : 64;

/// The cells of a box by slabs along axis 0, one per team, in View indices.
template <int D>
struct Slabs {
  Slabs(const Grid<D>& grid, const Width<D>& width) {
    for (int axis = 0; axis < D; ++axis) {
      whole.begin[axis] = width[axis].low;
      whole.end[axis] = width[axis].low + grid.box().extent(axis);
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>((extent() + thickness - 1) / thickness); }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t extent() const { return whole.end[0] - whole.begin[0]; }
  [[nodiscard]] KOKKOS_FUNCTION HaloPort::Box slab(int index) const {
    HaloPort::Box box = whole;
    box.begin[0] = whole.begin[0] + index * thickness;
    const std::int64_t end = box.begin[0] + thickness;
    box.end[0] = end < whole.end[0] ? end : whole.end[0];
    return box;
  }

  static constexpr std::int64_t thickness = 3;
  HaloPort::Box whole;
};

template <int D>
struct PutSlabs {
  HaloPort port;
  Slabs<D> slabs;
  int view;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto turn = port.open(team);
    turn.put(team, view, slabs.slab(team.league_rank()));
    turn.close(team);
  }
};

}  // namespace selvage::test
