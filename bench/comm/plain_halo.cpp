#include "plain_halo.hpp"

#include <utility>

namespace selvage::bench {

PlainHalo::PlainHalo(MPI_Comm comm, PackedFaces faces, Messages messages)
    : comm_(comm), faces_(std::move(faces)), requests_(2 * faces_.faces().size()) {
  if (messages == Messages::direct) return;
  for (const auto& face : faces_.faces())
    on_host_.push_back({Kokkos::create_mirror_view(face.sent), Kokkos::create_mirror_view(face.received)});
}

double* PlainHalo::sent_by_mpi(std::size_t face) const {
  return is_staged() ? on_host_[face].sent.data() : faces_.faces()[face].sent.data();
}
double* PlainHalo::received_by_mpi(std::size_t face) const {
  return is_staged() ? on_host_[face].received.data() : faces_.faces()[face].received.data();
}

void PlainHalo::exchange() {
  const auto& faces = faces_.faces();
  std::size_t request = 0;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    MPI_Irecv(received_by_mpi(i), static_cast<int>(faces[i].received.size()), MPI_DOUBLE, faces[i].rank,
              faces[i].received_tag(), comm_, &requests_[request++]);
  }
  faces_.pack();
  if (is_staged()) {
    for (std::size_t i = 0; i < faces.size(); ++i)
      Kokkos::deep_copy(faces_.space(), on_host_[i].sent, faces[i].sent);
  }
  faces_.space().fence();
  for (std::size_t i = 0; i < faces.size(); ++i) {
    MPI_Isend(sent_by_mpi(i), static_cast<int>(faces[i].sent.size()), MPI_DOUBLE, faces[i].rank,
              faces[i].sent_tag(), comm_, &requests_[request++]);
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (is_staged()) Kokkos::deep_copy(faces_.space(), faces[i].received, on_host_[i].received);
    faces_.unpack(faces[i]);
  }
  faces_.space().fence();
}

}  // namespace selvage::bench
