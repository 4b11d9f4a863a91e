#include "plain_halo.hpp"

#include <string>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Faces = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>;

/// The cells of one layer along `axis`, without the ghosts of the other axes.
template <class Function>
void for_each_cell(const char* label, const PlainHalo::View& view, int axis, int layer,
                   const Function& function) {
  const int first = axis == 0 ? 1 : 0;
  const int second = axis == 2 ? 1 : 2;
  const auto rows = static_cast<int>(view.extent(first)) - 2;
  const auto columns = static_cast<int>(view.extent(second)) - 2;
  Kokkos::parallel_for(
      label, Faces({0, 0}, {rows, columns}), KOKKOS_LAMBDA(int i, int j) {
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

PlainHalo::PlainHalo(MPI_Comm comm, const std::array<std::array<int, 2>, 3>& neighbours, const View& view)
    : comm_(comm), view_(view) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto last = static_cast<int>(view.extent(axis)) - 1;
    const auto rows = view.extent(axis == 0 ? 1 : 0) - 2;
    const auto columns = view.extent(axis == 2 ? 1 : 2) - 2;
    for (int side = 0; side < 2; ++side) {
      if (neighbours[axis][side] == MPI_PROC_NULL) continue;
      const bool low = side == 0;
      const Buffer sent("plain::sent", rows, columns);
      const Buffer received("plain::received", rows, columns);
      faces_.push_back({neighbours[axis][side], axis, low ? 1 : last - 1, low ? 0 : last, sent, received,
                        Kokkos::create_mirror_view(sent), Kokkos::create_mirror_view(received)});
    }
  }
  requests_.resize(2 * faces_.size());
}

void PlainHalo::exchange() {
  std::size_t request = 0;
  for (const Face& face : faces_) {
    const bool low = face.ghost_layer == 0;
    MPI_Irecv(face.received_on_host.data(), static_cast<int>(face.received.size()), MPI_DOUBLE, face.rank,
              face.axis * 2 + (low ? 1 : 0), comm_, &requests_[request++]);
  }
  for (const Face& face : faces_) {
    const auto sent = face.sent;
    for_each_cell(
        "plain::pack", view_, face.axis, face.owned_layer,
        KOKKOS_LAMBDA(double& cell, int i, int j) { sent(i, j) = cell; });
  }
  for (const Face& face : faces_) Kokkos::deep_copy(Space(), face.sent_on_host, face.sent);
  Space().fence();
  for (const Face& face : faces_) {
    const bool low = face.ghost_layer == 0;
    MPI_Isend(face.sent_on_host.data(), static_cast<int>(face.sent.size()), MPI_DOUBLE, face.rank,
              face.axis * 2 + (low ? 0 : 1), comm_, &requests_[request++]);
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  for (const Face& face : faces_) {
    const auto received = face.received;
    Kokkos::deep_copy(Space(), face.received, face.received_on_host);
    for_each_cell(
        "plain::unpack", view_, face.axis, face.ghost_layer,
        KOKKOS_LAMBDA(double& cell, int i, int j) { cell = received(i, j); });
  }
  Space().fence();
}

}  // namespace selvage::bench
