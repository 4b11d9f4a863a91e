#pragma once

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <array>
#include <vector>

namespace selvage::bench {

/// The halo exchange that most codes carry: pack each face with a kernel, MPI_Irecv and MPI_Isend,
/// MPI_Waitall, unpack with a kernel. Faces only, width 1, along the axes of a Cartesian communicator. What
/// ours is measured against.
class PlainHalo {
 public:
  using View = Kokkos::View<double***, Kokkos::LayoutRight>;

  /// \param neighbours  rank before and after along each axis, MPI_PROC_NULL where there is none
  PlainHalo(MPI_Comm comm, const std::array<std::array<int, 2>, 3>& neighbours, const View& view);

  void exchange();

 private:
  using Buffer = Kokkos::View<double**, Kokkos::LayoutRight>;
  struct Face {
    int rank;
    int axis;
    int owned_layer;
    int ghost_layer;
    Buffer sent;
    Buffer received;
    Buffer::HostMirror sent_on_host;  ///< what MPI sees; the buffer itself on hosts
    Buffer::HostMirror received_on_host;
  };

  MPI_Comm comm_;
  View view_;
  std::vector<Face> faces_;
  std::vector<MPI_Request> requests_;
};

}  // namespace selvage::bench
