#pragma once

#include "messages.hpp"

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace selvage::bench {

/// What molecular dynamics codes carry: a kernel packs by a list, MPI_Irecv and MPI_Isend, MPI_Waitall. Positions are
/// received where ghosts lie; forces are sent from there and added, by several threads with atomics.
class PlainLists {
 public:
  using Space = Kokkos::DefaultExecutionSpace;
  using Vectors = Kokkos::View<double* [3], Kokkos::LayoutRight, Space>;

  /// Where MPI reads and writes: pinned memory where there are GPUs.
  using Staging = decltype(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), Vectors()));

  /// \param sent      by rank: the particles it gets ghosts of
  /// \param received  by rank: how many ghosts it gives; they lie in this order behind `owned` particles
  PlainLists(MPI_Comm comm, Messages messages, std::int64_t owned,
             const std::map<int, std::vector<int>>& sent, const std::map<int, std::int64_t>& received);

  void gather(const Vectors& x);
  void scatter_add(const Vectors& force);

  // Public only because nvcc wants the functions of its kernels so.
  struct Side {
    int rank;
    Kokkos::View<int*, Space> ids;  ///< none of what is received
    std::int64_t first;             ///< ghost
    Vectors packed;
    Staging on_host;
  };
  static void pack(const Side& side, const Vectors& x);
  static void add(const Side& side, const Vectors& force);

 private:
  [[nodiscard]] static auto rows(const Side& side, const Vectors& vectors);
  void receive(const Side& side, double* data, int tag);
  void send(const Side& side, const double* data, int tag);
  void wait();

  MPI_Comm comm_;
  bool is_staged_;
  std::vector<Side> entries_;
  std::vector<Side> ghosts_;
  std::vector<MPI_Request> requests_;
};

}  // namespace selvage::bench
