#pragma once

#include "messages.hpp"
#include "packed_faces.hpp"

#include <mpi.h>

#include <vector>

namespace selvage::bench {

/// The halo exchange that most codes carry: pack each face with a kernel, MPI_Irecv and MPI_Isend,
/// MPI_Waitall, unpack with a kernel. Faces only, width 1, along the axes of a Cartesian communicator. What
/// ours is measured against.
class PlainHalo {
 public:
  /// Whether requests are made for each exchange, or once.
  enum class Requests { each_time, persistent };

  PlainHalo(MPI_Comm comm, PackedFaces faces, Messages messages, Requests requests = Requests::each_time);
  PlainHalo(const PlainHalo&) = delete;
  PlainHalo& operator=(const PlainHalo&) = delete;
  ~PlainHalo();

  void exchange();

 private:
  using Staging =
      decltype(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), PackedFaces::Buffer()));
  struct OnHost {
    Staging sent;
    Staging received;
  };

  void start_receives();
  void start_sends();

  [[nodiscard]] bool is_staged() const { return !on_host_.empty(); }
  [[nodiscard]] double* sent_by_mpi(std::size_t face) const;
  [[nodiscard]] double* received_by_mpi(std::size_t face) const;

  MPI_Comm comm_;
  PackedFaces faces_;
  std::vector<OnHost> on_host_;  ///< per face; none where MPI sees the faces
  bool is_persistent_;
  std::vector<MPI_Request> requests_;  ///< receives, then sends
};

}  // namespace selvage::bench
