#pragma once

#include "packed_faces.hpp"

#include <mpi.h>

#include <array>
#include <vector>

namespace selvage::bench {

/// Exchanges of faces without kernels of one's own: MPI packs subarrays of the Views, or doesn't need to. Faces only, width 1,
/// each neighbour at most once. On hosts.

enum class DatatypeCalls { isend, persistent, neighbour_collective };

/// MPI_Type_create_subarray for every face, and one of MPI's ways to send them.
class DatatypeHalo {
 public:
  DatatypeHalo(MPI_Comm comm, const FaceNeighbours& neighbours, const HaloView& view, DatatypeCalls calls);
  DatatypeHalo(const DatatypeHalo&) = delete;
  DatatypeHalo& operator=(const DatatypeHalo&) = delete;
  ~DatatypeHalo();

  void exchange();

 private:
  void make_persistent();
  void make_graph();

  MPI_Comm comm_;
  HaloView view_;
  DatatypeCalls calls_;
  std::vector<int> ranks_;
  std::vector<int> sent_tags_, received_tags_;
  std::vector<MPI_Datatype> sent_, received_;
  std::vector<MPI_Request> requests_;
  MPI_Comm graph_ = MPI_COMM_NULL;
  std::vector<int> ones_;
  std::vector<MPI_Aint> origins_;
};

/// Two Views in a window of MPI_Win_allocate_shared: ranks read each other's faces. They take turns, so that one meeting of
/// the ranks for each exchange is enough.
class SharedWindowHalo {
 public:
  /// All ranks of `comm` share memory. \param extents  of a View, ghosts included; the same on all ranks
  SharedWindowHalo(MPI_Comm comm, const FaceNeighbours& neighbours,
                   const std::array<std::int64_t, 3>& extents);
  SharedWindowHalo(const SharedWindowHalo&) = delete;
  SharedWindowHalo& operator=(const SharedWindowHalo&) = delete;
  ~SharedWindowHalo();

  /// \param turn  0 or 1: alternating
  void exchange(int turn);
  [[nodiscard]] const HaloView& view(int turn) const { return views_[turn]; }

 private:
  struct Face {
    int axis;
    int ghost_layer, owned_layer;        ///< here, and of the neighbour
    std::array<HaloView, 2> neighbours;  ///< its Views
  };

  MPI_Comm comm_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::array<HaloView, 2> views_;
  std::vector<Face> faces_;
};

}  // namespace selvage::bench
