#pragma once

// Heat conduction as MPI codes have it: arrays without ghosts, a plane of ghosts and a buffer per side, kernels that pack,
// MPI_Isend and MPI_Irecv, the inner cells while messages travel, then the outermost ones.
#include "conduction.hpp"

#include <mpi.h>

#include <array>
#include <utility>
#include <vector>

namespace heat {

class ByHand {
 public:
  /// Collective. \param cells  of a rank, along each axis, at least two \param ranks  along each axis
  ByHand(MPI_Comm comm, const std::array<int, 3>& cells, std::array<int, 3> ranks);
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;
  ~ByHand() { MPI_Comm_free(&comm_); }

  void step();
  [[nodiscard]] const Field& heat() const { return u_; }

  // What follows is public only because nvcc wants the functions of its kernels so.
  using Plane = Kokkos::View<double**, Space>;
  struct Planes {
    Field u;
    std::array<Plane, 6> ghosts;
    [[nodiscard]] KOKKOS_FUNCTION double at(int i, int j, int k) const {
      if (i < 0) return ghosts[0](j, k);
      if (i >= static_cast<int>(u.extent(0))) return ghosts[1](j, k);
      if (j < 0) return ghosts[2](i, k);
      if (j >= static_cast<int>(u.extent(1))) return ghosts[3](i, k);
      if (k < 0) return ghosts[4](i, j);
      if (k >= static_cast<int>(u.extent(2))) return ghosts[5](i, j);
      return u(i, j, k);
    }
  };
  void fill(const std::array<int, 3>& first) const;
  void pack(int side) const;
  void update_inner() const;
  void update_face(int side) const;
  void update_edges() const;

 private:
  using OnHost = decltype(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), Plane()));

  void receive();
  void send();
  void take_ghosts();
  void update_outermost() const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  Space space_;
  std::array<int, 3> cells_;
  Field u_, v_;
  std::array<int, 6> neighbours_{};  ///< MPI_PROC_NULL at a wall
  std::array<Plane, 6> ghosts_, out_;
  std::array<OnHost, 6> ghosts_on_host_, out_on_host_;  ///< the same memory on hosts
  std::vector<MPI_Request> requests_;
};

inline ByHand::ByHand(MPI_Comm comm, const std::array<int, 3>& cells, std::array<int, 3> ranks)
    : cells_(cells), u_("u", cells[0], cells[1], cells[2]), v_("v", cells[0], cells[1], cells[2]) {
  const std::array<int, 3> open{0, 0, 0};
  MPI_Cart_create(comm, 3, ranks.data(), open.data(), 0, &comm_);
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  std::array<int, 3> place{};
  MPI_Cart_coords(comm_, rank, 3, place.data());
  for (int axis = 0; axis < 3; ++axis) {
    MPI_Cart_shift(comm_, axis, 1, &neighbours_[2 * axis], &neighbours_[2 * axis + 1]);
    for (int side = 2 * axis; side < 2 * axis + 2; ++side) {
      const int rows = cells[axis == 0 ? 1 : 0];
      const int columns = cells[axis == 2 ? 1 : 2];
      ghosts_[side] = Plane("ghosts", rows, columns);
      Kokkos::deep_copy(ghosts_[side], wall);
      out_[side] = Plane("out", rows, columns);
      ghosts_on_host_[side] = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), ghosts_[side]);
      out_on_host_[side] = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), out_[side]);
    }
  }
  fill({place[0] * cells[0], place[1] * cells[1], place[2] * cells[2]});
}

inline void ByHand::fill(const std::array<int, 3>& first) const {
  const Field u = u_;
  Kokkos::parallel_for(
      "by_hand::fill", heat::cells(space_, {0, 0, 0}, cells_), KOKKOS_LAMBDA(int i, int j, int k) {
        u(i, j, k) = initial_heat({first[0] + i, first[1] + j, first[2] + k});
      });
}

// --8<-- [start:step]
inline void ByHand::step() {
  receive();
  send();
  update_inner();
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  take_ghosts();
  update_outermost();
  std::swap(u_, v_);
}
// --8<-- [end:step]

inline void ByHand::receive() {
  requests_.clear();
  for (int side = 0; side < 6; ++side) {
    if (neighbours_[side] == MPI_PROC_NULL) continue;
    // Whoever sends across its lower side is above.
    MPI_Irecv(ghosts_on_host_[side].data(), static_cast<int>(ghosts_[side].size()), MPI_DOUBLE,
              neighbours_[side], side ^ 1, comm_, &requests_.emplace_back());
  }
}

inline void ByHand::send() {
  for (int side = 0; side < 6; ++side) {
    if (neighbours_[side] == MPI_PROC_NULL) continue;
    pack(side);
    Kokkos::deep_copy(space_, out_on_host_[side], out_[side]);
  }
  space_.fence();
  for (int side = 0; side < 6; ++side) {
    if (neighbours_[side] == MPI_PROC_NULL) continue;
    MPI_Isend(out_on_host_[side].data(), static_cast<int>(out_[side].size()), MPI_DOUBLE, neighbours_[side],
              side, comm_, &requests_.emplace_back());
  }
}

inline void ByHand::pack(int side) const {
  const Field u = u_;
  const Plane out = out_[side];
  const int axis = side / 2;
  const int layer = side % 2 == 0 ? 0 : cells_[axis] - 1;
  Kokkos::parallel_for(
      "by_hand::pack",
      Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>(
          space_, {0, 0}, {static_cast<int>(out.extent(0)), static_cast<int>(out.extent(1))}),
      KOKKOS_LAMBDA(int a, int b) {
        out(a, b) = axis == 0 ? u(layer, a, b) : axis == 1 ? u(a, layer, b) : u(a, b, layer);
      });
}

inline void ByHand::take_ghosts() {
  for (int side = 0; side < 6; ++side) {
    if (neighbours_[side] != MPI_PROC_NULL) Kokkos::deep_copy(space_, ghosts_[side], ghosts_on_host_[side]);
  }
}

inline void ByHand::update_inner() const {
  const Field u = u_, v = v_;
  Kokkos::parallel_for(
      "by_hand::inner", heat::cells(space_, {1, 1, 1}, {cells_[0] - 1, cells_[1] - 1, cells_[2] - 1}),
      KOKKOS_LAMBDA(int i, int j, int k) {
        v(i, j, k) = conducted(u(i, j, k), u(i - 1, j, k), u(i + 1, j, k), u(i, j - 1, k), u(i, j + 1, k),
                               u(i, j, k - 1), u(i, j, k + 1));
      });
}

inline void ByHand::update_outermost() const {
  for (int side = 0; side < 6; ++side) update_face(side);
  update_edges();
}

/// Without its edges: one neighbour of each cell is a ghost.
inline void ByHand::update_face(int side) const {
  const Field u = u_, v = v_;
  const Plane ghost = ghosts_[side];
  const int axis = side / 2;
  const bool is_lower = side % 2 == 0;
  const int layer = is_lower ? 0 : cells_[axis] - 1;
  Kokkos::parallel_for(
      "by_hand::face",
      Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>(
          space_, {1, 1}, {static_cast<int>(ghost.extent(0)) - 1, static_cast<int>(ghost.extent(1)) - 1}),
      KOKKOS_LAMBDA(int a, int b) {
        const int i = axis == 0 ? layer : a;
        const int j = axis == 0 ? a : axis == 1 ? layer : b;
        const int k = axis == 2 ? layer : b;
        const double outside = ghost(a, b);
        v(i, j, k) = conducted(u(i, j, k), axis == 0 && is_lower ? outside : u(i - 1, j, k),
                               axis == 0 && !is_lower ? outside : u(i + 1, j, k),
                               axis == 1 && is_lower ? outside : u(i, j - 1, k),
                               axis == 1 && !is_lower ? outside : u(i, j + 1, k),
                               axis == 2 && is_lower ? outside : u(i, j, k - 1),
                               axis == 2 && !is_lower ? outside : u(i, j, k + 1));
      });
}

/// The four edges along each axis, corners included.
inline void ByHand::update_edges() const {
  const Planes from{u_, ghosts_};
  const Field v = v_;
  for (int axis = 0; axis < 3; ++axis) {
    const std::array<int, 3> last{cells_[0] - 1, cells_[1] - 1, cells_[2] - 1};
    Kokkos::parallel_for(
        "by_hand::edges", Kokkos::RangePolicy<Space>(space_, 0, 4 * cells_[axis]), KOKKOS_LAMBDA(int cell) {
          const int along = cell / 4;
          const int first = cell % 2;
          const int second = cell / 2 % 2;
          const int i = axis == 0 ? along : first * last[0];
          const int j = axis == 1 ? along : (axis == 0 ? first : second) * last[1];
          const int k = axis == 2 ? along : second * last[2];
          v(i, j, k) =
              conducted(from.at(i, j, k), from.at(i - 1, j, k), from.at(i + 1, j, k), from.at(i, j - 1, k),
                        from.at(i, j + 1, k), from.at(i, j, k - 1), from.at(i, j, k + 1));
        });
  }
}

}  // namespace heat
