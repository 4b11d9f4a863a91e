#pragma once

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <array>
#include <vector>

namespace selvage::bench {

using HaloView = Kokkos::View<double***, Kokkos::LayoutRight>;

/// Rank before and after along each axis, MPI_PROC_NULL where there is none.
using FaceNeighbours = std::array<std::array<int, 2>, 3>;

/// The faces of a box with ghosts of width 1, each with a buffer for either direction: what exchanges written
/// by hand have in common. One kernel per face packs, and one unpacks.
class PackedFaces {
 public:
  using Space = Kokkos::DefaultExecutionSpace;
  using Buffer = Kokkos::View<double**, Kokkos::LayoutRight>;
  struct Face {
    int rank;
    int axis;
    int owned_layer;
    int ghost_layer;
    Buffer sent;
    Buffer received;

    /// The same on both sides of a face; messages to lower and to higher ranks differ.
    [[nodiscard]] int sent_tag() const { return axis * 2 + (ghost_layer == 0 ? 0 : 1); }
    [[nodiscard]] int received_tag() const { return axis * 2 + (ghost_layer == 0 ? 1 : 0); }
  };

  PackedFaces(const Space& space, const FaceNeighbours& neighbours, const HaloView& view);

  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] const std::vector<Face>& faces() const { return faces_; }
  void pack() const;
  void unpack(const Face& face) const;

 private:
  Space space_;
  HaloView view_;
  std::vector<Face> faces_;
};

}  // namespace selvage::bench
