#pragma once

// Heat conduction as MPI codes have it: arrays with ghosts, a buffer per side, kernels that pack and unpack, MPI_Isend and MPI_Irecv,
// the inner cells while messages travel, then the others; or all cells afterwards.
#include "conduction.hpp"

#include <mpi.h>

#include <array>
#include <utility>
#include <vector>

namespace heat {

class ByHand {
 public:
  /// What MPI reads and writes: the buffers themselves, on hosts or by an MPI that takes GPU memory, or copies in pinned host memory.
  enum class Messages { direct, staged };
  /// What is computed while messages travel.
  enum class Meanwhile { inner_cells, nothing };

  /// Collective. \param cells  of a rank, along each axis \param ranks  along each axis
  ByHand(MPI_Comm comm, const std::array<int, 3>& cells, std::array<int, 3> ranks,
         Messages messages = Messages::staged, Meanwhile meanwhile = Meanwhile::inner_cells);
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;
  ~ByHand() { MPI_Comm_free(&comm_); }

  void step();
  /// With ghosts: this rank's cells begin at {1, 1, 1}.
  [[nodiscard]] const Field& heat() const { return u_; }

  // What follows is public only because nvcc wants the functions of its kernels so.
  using Plane = Kokkos::View<double**, Space>;
  void fill(const std::array<int, 3>& first) const;
  void pack(int side) const;
  void unpack(int side) const;

 private:
  using OnHost = decltype(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), Plane()));

  /// A buffer as long as a side, and its copy for MPI, which on hosts is the same.
  struct Buffer {
    Plane plane;
    OnHost on_host;
  };

  void add_side(int side);
  [[nodiscard]] double* data(const Buffer& buffer) const {
    return is_staged_ ? buffer.on_host.data() : buffer.plane.data();
  }
  void pack_sides();
  void exchange();
  void take_ghosts();
  void update(const std::array<int, 3>& begin, const std::array<int, 3>& end) const {
    conduct(space_, begin, end, u_, v_);
  }
  void update_outermost() const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  bool is_staged_;
  bool overlaps_;
  Space space_;
  std::array<int, 3> cells_;
  Field u_, v_;
  std::array<int, 3> inner_begin_{1, 1, 1}, inner_end_;  ///< whose neighbours are this rank's, or walls
  std::vector<int> sides_;  ///< 2 axis, and 1 more for the upper one: those with a neighbour
  std::array<int, 6> neighbours_{};
  std::array<Buffer, 6> in_, out_;
  std::vector<MPI_Request> requests_;
};

inline ByHand::ByHand(MPI_Comm comm, const std::array<int, 3>& cells, std::array<int, 3> ranks,
                      Messages messages, Meanwhile meanwhile)
    : is_staged_(messages == Messages::staged),
      overlaps_(meanwhile == Meanwhile::inner_cells),
      cells_(cells),
      u_("u", cells[0] + 2, cells[1] + 2, cells[2] + 2),
      v_("v", cells[0] + 2, cells[1] + 2, cells[2] + 2),
      inner_end_{cells[0] + 1, cells[1] + 1, cells[2] + 1} {
  const std::array<int, 3> open{0, 0, 0};
  MPI_Cart_create(comm, 3, ranks.data(), open.data(), 0, &comm_);
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  std::array<int, 3> place{};
  MPI_Cart_coords(comm_, rank, 3, place.data());
  for (int axis = 0; axis < 3; ++axis) {
    MPI_Cart_shift(comm_, axis, 1, &neighbours_[2 * axis], &neighbours_[2 * axis + 1]);
    for (int side = 2 * axis; side < 2 * axis + 2; ++side) {
      if (neighbours_[side] != MPI_PROC_NULL) add_side(side);
    }
  }
  fill({place[0] * cells[0], place[1] * cells[1], place[2] * cells[2]});
}

inline void ByHand::add_side(int side) {
  const int axis = side / 2;
  sides_.push_back(side);
  if (side % 2 == 0)
    ++inner_begin_[axis];
  else
    --inner_end_[axis];
  for (Buffer* buffer : {&in_[side], &out_[side]}) {
    buffer->plane = Plane("buffer", cells_[axis == 0 ? 1 : 0], cells_[axis == 2 ? 1 : 2]);
    buffer->on_host = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), buffer->plane);
  }
}

inline void ByHand::fill(const std::array<int, 3>& first) const {
  Kokkos::deep_copy(u_, wall);
  Kokkos::deep_copy(v_, wall);
  const Field u = u_;
  Kokkos::parallel_for(
      "by_hand::fill", heat::cells(space_, {1, 1, 1}, {cells_[0] + 1, cells_[1] + 1, cells_[2] + 1}),
      KOKKOS_LAMBDA(int i, int j, int k) {
        u(i, j, k) = initial_heat({first[0] + i - 1, first[1] + j - 1, first[2] + k - 1});
      });
}

// --8<-- [start:step]
inline void ByHand::step() {
  pack_sides();
  // Now the sides are packed, and nothing reads any more what arrived last time.
  space_.fence();
  exchange();
  if (overlaps_) update(inner_begin_, inner_end_);
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  take_ghosts();
  if (overlaps_)
    update_outermost();
  else
    update({1, 1, 1}, {cells_[0] + 1, cells_[1] + 1, cells_[2] + 1});
  std::swap(u_, v_);
}
// --8<-- [end:step]

inline void ByHand::pack_sides() {
  for (const int side : sides_) {
    pack(side);
    if (is_staged_) Kokkos::deep_copy(space_, out_[side].on_host, out_[side].plane);
  }
}

inline void ByHand::exchange() {
  requests_.clear();
  for (const int side : sides_) {
    // Whoever sends across its lower side is above.
    MPI_Irecv(data(in_[side]), static_cast<int>(in_[side].plane.size()), MPI_DOUBLE, neighbours_[side],
              side ^ 1, comm_, &requests_.emplace_back());
  }
  for (const int side : sides_) {
    MPI_Isend(data(out_[side]), static_cast<int>(out_[side].plane.size()), MPI_DOUBLE, neighbours_[side],
              side, comm_, &requests_.emplace_back());
  }
}

inline void ByHand::take_ghosts() {
  for (const int side : sides_) {
    if (is_staged_) Kokkos::deep_copy(space_, in_[side].plane, in_[side].on_host);
    unpack(side);
  }
}

inline void ByHand::pack(int side) const {
  const Field u = u_;
  const Plane plane = out_[side].plane;
  const int axis = side / 2, layer = side % 2 == 0 ? 1 : cells_[axis];
  Kokkos::parallel_for(
      "by_hand::pack", heat::all_of(space_, plane), KOKKOS_LAMBDA(int a, int b) {
        plane(a, b) = axis == 0   ? u(layer, a + 1, b + 1)
                      : axis == 1 ? u(a + 1, layer, b + 1)
                                  : u(a + 1, b + 1, layer);
      });
}

inline void ByHand::unpack(int side) const {
  const Field u = u_;
  const Plane plane = in_[side].plane;
  const int axis = side / 2, layer = side % 2 == 0 ? 0 : cells_[axis] + 1;
  Kokkos::parallel_for(
      "by_hand::unpack", heat::all_of(space_, plane), KOKKOS_LAMBDA(int a, int b) {
        (axis == 0   ? u(layer, a + 1, b + 1)
         : axis == 1 ? u(a + 1, layer, b + 1)
                     : u(a + 1, b + 1, layer)) = plane(a, b);
      });
}

/// A layer per side with a neighbour, without what those of earlier axes have.
inline void ByHand::update_outermost() const {
  std::array<int, 3> begin{1, 1, 1}, end{cells_[0] + 1, cells_[1] + 1, cells_[2] + 1};
  for (const int side : sides_) {
    const int axis = side / 2;
    std::array<int, 3> first = begin, last = end;
    if (side % 2 == 0) {
      last[axis] = ++begin[axis];
    } else {
      first[axis] = --end[axis];
    }
    update(first, last);
  }
}

}  // namespace heat
