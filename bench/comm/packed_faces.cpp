#include "packed_faces.hpp"

namespace selvage::bench {
namespace {

/// The second index fastest: neighbouring threads read neighbouring cells wherever the face has such.
using Faces = Kokkos::MDRangePolicy<PackedFaces::Space,
                                    Kokkos::Rank<2, Kokkos::Iterate::Right, Kokkos::Iterate::Right>>;

/// The cells of one layer along `axis`, without the ghosts of the other axes.
template <class Function>
void for_each_cell(const char* label, const PackedFaces::Space& space, const HaloView& view, int axis,
                   int layer, const Function& function) {
  const int first = axis == 0 ? 1 : 0;
  const int second = axis == 2 ? 1 : 2;
  const auto rows = static_cast<int>(view.extent(first)) - 2;
  const auto columns = static_cast<int>(view.extent(second)) - 2;
  Kokkos::parallel_for(
      label, Faces(space, {0, 0}, {rows, columns}), KOKKOS_LAMBDA(int i, int j) {
        if (axis == 0) {
          function(view(layer, i + 1, j + 1), i, j);
        } else if (axis == 1) {
          function(view(i + 1, layer, j + 1), i, j);
        } else {
          function(view(i + 1, j + 1, layer), i, j);
        }
      });
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
