#include "plain_halo.hpp"

#include <utility>

namespace selvage::bench {

PlainHalo::PlainHalo(MPI_Comm comm, PackedFaces faces, Messages messages, Requests requests)
    : comm_(comm),
      faces_(std::move(faces)),
      is_persistent_(requests == Requests::persistent),
      requests_(2 * faces_.faces().size()) {
  const auto& all = faces_.faces();
  if (messages == Messages::staged) {
    const Kokkos::SharedHostPinnedSpace pinned;
    for (const auto& face : all)
      on_host_.push_back(
          {Kokkos::create_mirror_view(pinned, face.sent), Kokkos::create_mirror_view(pinned, face.received)});
  }
  if (!is_persistent_) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    MPI_Recv_init(received_by_mpi(i), static_cast<int>(all[i].received.size()), MPI_DOUBLE, all[i].rank,
                  all[i].received_tag(), comm_, &requests_[i]);
    MPI_Send_init(sent_by_mpi(i), static_cast<int>(all[i].sent.size()), MPI_DOUBLE, all[i].rank,
                  all[i].sent_tag(), comm_, &requests_[all.size() + i]);
  }
}

PlainHalo::~PlainHalo() {
  if (!is_persistent_) return;
  for (MPI_Request& request : requests_) MPI_Request_free(&request);
}

double* PlainHalo::sent_by_mpi(std::size_t face) const {
  return is_staged() ? on_host_[face].sent.data() : faces_.faces()[face].sent.data();
}
double* PlainHalo::received_by_mpi(std::size_t face) const {
  return is_staged() ? on_host_[face].received.data() : faces_.faces()[face].received.data();
}

void PlainHalo::start_receives() {
  const auto& faces = faces_.faces();
  const int count = static_cast<int>(faces.size());
  if (is_persistent_) {
    MPI_Startall(count, requests_.data());
    return;
  }
  for (std::size_t i = 0; i < faces.size(); ++i)
    MPI_Irecv(received_by_mpi(i), static_cast<int>(faces[i].received.size()), MPI_DOUBLE, faces[i].rank,
              faces[i].received_tag(), comm_, &requests_[i]);
}

void PlainHalo::start_sends() {
  const auto& faces = faces_.faces();
  const int count = static_cast<int>(faces.size());
  if (is_persistent_) {
    MPI_Startall(count, requests_.data() + count);
    return;
  }
  for (std::size_t i = 0; i < faces.size(); ++i)
    MPI_Isend(sent_by_mpi(i), static_cast<int>(faces[i].sent.size()), MPI_DOUBLE, faces[i].rank,
              faces[i].sent_tag(), comm_, &requests_[faces.size() + i]);
}

void PlainHalo::exchange() {
  const auto& faces = faces_.faces();
  start_receives();
  faces_.pack();
  if (is_staged()) {
    for (std::size_t i = 0; i < faces.size(); ++i)
      Kokkos::deep_copy(faces_.space(), on_host_[i].sent, faces[i].sent);
  }
  faces_.space().fence();
  start_sends();
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (is_staged()) Kokkos::deep_copy(faces_.space(), faces[i].received, on_host_[i].received);
    faces_.unpack(faces[i]);
  }
  faces_.space().fence();
}

}  // namespace selvage::bench
