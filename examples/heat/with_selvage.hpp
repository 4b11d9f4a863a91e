#pragma once

// The same with Selvage: arrays with ghosts, filled by a HaloExchange; between hosts while the inner cells are computed.
#include "conduction.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace heat {

class WithSelvage {
 public:
  /// Collective. \param cells  of a rank, along each axis \param ranks  along each axis
  WithSelvage(const selvage::Context& context, const std::array<int, 3>& cells,
              const std::array<int, 3>& ranks)
      : grid_(context, {.cells = {cells[0] * ranks[0], cells[1] * ranks[1], cells[2] * ranks[2]},
                        .ranks = {ranks[0], ranks[1], ranks[2]}}),
        u_(grid_.allocate<double>("u", 1)),
        v_(grid_.allocate<double>("v", 1)),
        halo_(space_, grid_, {.corners = false, .ghost_reuse = selvage::GhostReuse::alternating}, u_, v_),
        own_(grid_.local_box(1)),
        inner_(grid_.shrunk(own_, 1)),
        edges_(without(own_, inner_)),
        overlaps_(overlap_pays(context)) {
    fill();
  }

  // --8<-- [start:step]
  void step() {
    if (overlaps_) {
      auto pending = halo_.start(space_, u_);
      update(inner_);
      halo_.finish(space_, std::move(pending));
      for (const selvage::Box<3>& edge : edges_) update(edge);
    } else {
      halo_.exchange(space_, u_);
      update(own_);
    }
    std::swap(u_, v_);
  }
  // --8<-- [end:step]
  /// With ghosts: this rank's cells begin at {1, 1, 1}.
  [[nodiscard]] const Field& heat() const { return u_; }

  // Public only because nvcc wants the functions of its kernels so.
  void fill() const {
    // Ghosts at walls stay as they are.
    Kokkos::deep_copy(u_, wall);
    Kokkos::deep_copy(v_, wall);
    const Field u = u_;
    const std::array<int, 3> first = corner(grid_.box().begin);
    Kokkos::parallel_for(
        "selvage::fill", cells(space_, corner(own_.begin), corner(own_.end)),
        KOKKOS_LAMBDA(int i, int j, int k) {
          u(i, j, k) = initial_heat({first[0] + i - 1, first[1] + j - 1, first[2] + k - 1});
        });
  }

 private:
  void update(const selvage::Box<3>& box) const {
    conduct(space_, corner(box.begin), corner(box.end), u_, v_);
  }
  [[nodiscard]] static std::array<int, 3> corner(const std::array<std::int64_t, 3>& cell) {
    return {static_cast<int>(cell[0]), static_cast<int>(cell[1]), static_cast<int>(cell[2])};
  }

  Space space_;
  selvage::Grid<3> grid_;
  Field u_, v_;
  selvage::HaloExchange halo_;
  selvage::Box<3> own_, inner_;
  std::vector<selvage::Box<3>> edges_;
  bool overlaps_;
};

}  // namespace heat
