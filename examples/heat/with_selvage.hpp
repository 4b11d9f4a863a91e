#pragma once

// The same with Selvage: arrays with ghosts, filled by a HaloExchange while the inner cells are computed.
#include "conduction.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <array>
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
        edges_(without(own_, inner_)) {
    fill();
  }

  // --8<-- [start:step]
  void step() {
    auto pending = halo_.start(space_, u_);
    update(inner_);
    halo_.finish(space_, std::move(pending));
    for (const selvage::Box<3>& edge : edges_) update(edge);
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
    const std::array<int, 3> first{static_cast<int>(grid_.box().begin[0]) - 1,
                                   static_cast<int>(grid_.box().begin[1]) - 1,
                                   static_cast<int>(grid_.box().begin[2]) - 1};
    Kokkos::parallel_for(
        "selvage::fill", cells_of(own_), KOKKOS_LAMBDA(int i, int j, int k) {
          u(i, j, k) = initial_heat({first[0] + i, first[1] + j, first[2] + k});
        });
  }
  void update(const selvage::Box<3>& box) const {
    const Field u = u_, v = v_;
    Kokkos::parallel_for(
        "selvage::update", cells_of(box), KOKKOS_LAMBDA(int i, int j, int k) {
          v(i, j, k) = conducted(u(i, j, k), u(i - 1, j, k), u(i + 1, j, k), u(i, j - 1, k), u(i, j + 1, k),
                                 u(i, j, k - 1), u(i, j, k + 1));
        });
  }

 private:
  [[nodiscard]] Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>> cells_of(const selvage::Box<3>& box) const {
    return {space_, {box.begin[0], box.begin[1], box.begin[2]}, {box.end[0], box.end[1], box.end[2]}};
  }

  Space space_;
  selvage::Grid<3> grid_;
  Field u_, v_;
  selvage::HaloExchange halo_;
  selvage::Box<3> own_, inner_;
  std::vector<selvage::Box<3>> edges_;
};

}  // namespace heat
