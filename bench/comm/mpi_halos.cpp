#include "mpi_halos.hpp"

#include <algorithm>
#include <cstring>

namespace selvage::bench {
namespace {

/// One layer of a View along an axis, without the ghosts of the other axes.
MPI_Datatype layer_of(const HaloView& view, int axis, int layer) {
  std::array<int, 3> sizes{}, extents{}, starts{};
  for (int other = 0; other < 3; ++other) {
    sizes[other] = static_cast<int>(view.extent(other));
    extents[other] = other == axis ? 1 : sizes[other] - 2;
    starts[other] = other == axis ? layer : 1;
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes.data(), extents.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

DatatypeHalo::DatatypeHalo(MPI_Comm comm, const FaceNeighbours& neighbours, const HaloView& view,
                           DatatypeCalls calls)
    : comm_(comm), view_(view), calls_(calls) {
  for (int axis = 0; axis < 3; ++axis) {
    const int last = static_cast<int>(view.extent(axis)) - 1;
    for (int side = 0; side < 2; ++side) {
      const int rank = neighbours[axis][side];
      if (rank == MPI_PROC_NULL) continue;
      ranks_.push_back(rank);
      sent_tags_.push_back(2 * axis + side);
      received_tags_.push_back(2 * axis + 1 - side);
      sent_.push_back(layer_of(view, axis, side == 0 ? 1 : last - 1));
      received_.push_back(layer_of(view, axis, side == 0 ? 0 : last));
    }
  }
  requests_.resize(2 * ranks_.size());
  if (calls == DatatypeCalls::persistent) make_persistent();
  if (calls == DatatypeCalls::neighbour_collective) make_graph();
}

DatatypeHalo::~DatatypeHalo() {
  if (calls_ == DatatypeCalls::persistent) {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  for (MPI_Datatype& type : sent_) MPI_Type_free(&type);
  for (MPI_Datatype& type : received_) MPI_Type_free(&type);
  if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
}

void DatatypeHalo::make_persistent() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    MPI_Recv_init(view_.data(), 1, received_[i], ranks_[i], received_tags_[i], comm_, &requests_[2 * i]);
    MPI_Send_init(view_.data(), 1, sent_[i], ranks_[i], sent_tags_[i], comm_, &requests_[2 * i + 1]);
  }
}

void DatatypeHalo::make_graph() {
  const int count = static_cast<int>(ranks_.size());
  MPI_Dist_graph_create_adjacent(comm_, count, ranks_.data(), MPI_UNWEIGHTED, count, ranks_.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_);
  ones_.assign(ranks_.size(), 1);
  origins_.assign(ranks_.size(), 0);
}

void DatatypeHalo::exchange() {
  const int count = static_cast<int>(requests_.size());
  switch (calls_) {
    case DatatypeCalls::isend:
      for (std::size_t i = 0; i < ranks_.size(); ++i)
        MPI_Irecv(view_.data(), 1, received_[i], ranks_[i], received_tags_[i], comm_, &requests_[2 * i]);
      for (std::size_t i = 0; i < ranks_.size(); ++i)
        MPI_Isend(view_.data(), 1, sent_[i], ranks_[i], sent_tags_[i], comm_, &requests_[2 * i + 1]);
      MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE);
      return;
    case DatatypeCalls::persistent:
      MPI_Startall(count, requests_.data());
      MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE);
      return;
    case DatatypeCalls::neighbour_collective:
      MPI_Neighbor_alltoallw(view_.data(), ones_.data(), origins_.data(), sent_.data(), view_.data(),
                             ones_.data(), origins_.data(), received_.data(), graph_);
  }
}

SharedWindowHalo::SharedWindowHalo(MPI_Comm comm, const FaceNeighbours& neighbours,
                                   const std::array<std::int64_t, 3>& extents)
    : comm_(comm) {
  const std::int64_t elements = extents[0] * extents[1] * extents[2];
  const auto views_at = [&](double* first) {
    return std::array{HaloView(first, extents[0], extents[1], extents[2]),
                      HaloView(first + elements, extents[0], extents[1], extents[2])};
  };
  double* own = nullptr;
  MPI_Win_allocate_shared(2 * elements * static_cast<MPI_Aint>(sizeof(double)), sizeof(double), MPI_INFO_NULL,
                          comm, static_cast<void*>(&own), &window_);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  views_ = views_at(own);
  for (int axis = 0; axis < 3; ++axis) {
    const int last = static_cast<int>(extents[axis]) - 1;
    for (int side = 0; side < 2; ++side) {
      const int rank = neighbours[axis][side];
      if (rank == MPI_PROC_NULL) continue;
      double* first = nullptr;
      MPI_Aint bytes = 0;
      int unit = 0;
      MPI_Win_shared_query(window_, rank, &bytes, &unit, static_cast<void*>(&first));
      faces_.push_back({axis, side == 0 ? 0 : last, side == 0 ? last - 1 : 1, views_at(first)});
    }
  }
}

SharedWindowHalo::~SharedWindowHalo() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

void SharedWindowHalo::exchange(int turn) {
  MPI_Win_sync(window_);
  MPI_Barrier(comm_);
  MPI_Win_sync(window_);
  const HaloView& here = views_[turn];
  for (const Face& face : faces_) {
    const HaloView& there = face.neighbours[turn];
    const std::int64_t last_row = static_cast<std::int64_t>(here.extent(face.axis == 0 ? 1 : 0)) - 2;
    const std::int64_t columns = static_cast<std::int64_t>(here.extent(face.axis == 2 ? 1 : 2)) - 2;
    for (std::int64_t row = 1; row <= last_row; ++row) {
      if (face.axis == 2) {
        for (std::int64_t j = 1; j <= columns; ++j)
          here(row, j, face.ghost_layer) = there(row, j, face.owned_layer);
        continue;
      }
      const bool is_first_axis = face.axis == 0;
      double* const to = is_first_axis ? &here(face.ghost_layer, row, 1) : &here(row, face.ghost_layer, 1);
      const double* const from =
          is_first_axis ? &there(face.owned_layer, row, 1) : &there(row, face.owned_layer, 1);
      std::memcpy(to, from, static_cast<std::size_t>(columns) * sizeof(double));
    }
  }
}

}  // namespace selvage::bench
