#include "packed_faces.hpp"

#include "../support/on_host.hpp"

namespace selvage::bench {
namespace {

template <int axis>
KOKKOS_INLINE_FUNCTION double& cell_of(const HaloView& view, int layer, int i, int j) {
  if constexpr (axis == 0) return view(layer, i + 1, j + 1);
  if constexpr (axis == 1) return view(i + 1, layer, j + 1);
  return view(i + 1, j + 1, layer);
}

/// The cells of one layer along `axis`, without the ghosts of the other axes. A thread takes a row on a host, and a cell on a GPU,
/// where neighbouring threads have neighbouring cells wherever the face has such.
template <int axis, class Function>
void for_each_cell(const char* label, const PackedFaces::Space& space, const HaloView& view, int layer,
                   const Function& function) {
  using Range = Kokkos::RangePolicy<PackedFaces::Space>;
  using Plane = Kokkos::MDRangePolicy<PackedFaces::Space,
                                      Kokkos::Rank<2, Kokkos::Iterate::Right, Kokkos::Iterate::Right>>;
  const auto rows = static_cast<int>(view.extent(axis == 0 ? 1 : 0)) - 2;
  const auto columns = static_cast<int>(view.extent(axis == 2 ? 1 : 2)) - 2;
  if (on_host) {
    Kokkos::parallel_for(
        label, Range(space, 0, rows), KOKKOS_LAMBDA(int i) {
          for (int j = 0; j < columns; ++j) function(cell_of<axis>(view, layer, i, j), i, j);
        });
  } else {
    Kokkos::parallel_for(
        label, Plane(space, {0, 0}, {rows, columns}),
        KOKKOS_LAMBDA(int i, int j) { function(cell_of<axis>(view, layer, i, j), i, j); });
  }
}

template <class Function>
void for_each_cell(const char* label, const PackedFaces::Space& space, const HaloView& view, int axis,
                   int layer, const Function& function) {
  if (axis == 0) for_each_cell<0>(label, space, view, layer, function);
  if (axis == 1) for_each_cell<1>(label, space, view, layer, function);
  if (axis == 2) for_each_cell<2>(label, space, view, layer, function);
}

}  // namespace

PackedFaces::PackedFaces(const Space& space, const FaceNeighbours& neighbours, const HaloView& view)
    : space_(space), view_(view) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto last = static_cast<int>(view.extent(axis)) - 1;
    const auto rows = view.extent(axis == 0 ? 1 : 0) - 2;
    const auto columns = view.extent(axis == 2 ? 1 : 2) - 2;
    for (int side = 0; side < 2; ++side) {
      if (neighbours[axis][side] == MPI_PROC_NULL) continue;
      const bool low = side == 0;
      faces_.push_back({neighbours[axis][side], axis, low ? 1 : last - 1, low ? 0 : last,
                        Buffer("plain::sent", rows, columns), Buffer("plain::received", rows, columns)});
    }
  }
}

void PackedFaces::pack() const {
  for (const Face& face : faces_) {
    const auto sent = face.sent;
    for_each_cell(
        "plain::pack", space_, view_, face.axis, face.owned_layer,
        KOKKOS_LAMBDA(double& cell, int i, int j) { sent(i, j) = cell; });
  }
}

void PackedFaces::unpack(const Face& face) const {
  const auto received = face.received;
  for_each_cell(
      "plain::unpack", space_, view_, face.axis, face.ghost_layer,
      KOKKOS_LAMBDA(double& cell, int i, int j) { cell = received(i, j); });
}

}  // namespace selvage::bench
