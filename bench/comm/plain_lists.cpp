#include "plain_lists.hpp"

#include "../support/on_host.hpp"

namespace selvage::bench {
namespace {

int count_of(const PlainLists::Side& side) {
  return static_cast<int>(side.packed.size());
}

}  // namespace

PlainLists::PlainLists(MPI_Comm comm, Messages messages, std::int64_t owned,
                       const std::map<int, std::vector<int>>& sent,
                       const std::map<int, std::int64_t>& received)
    : comm_(comm), is_staged_(!on_host && messages == Messages::staged) {
  for (const auto& [rank, ids] : sent) {
    Side side{
        rank, Kokkos::View<int*, Space>("plain::ids", ids.size()), 0, Vectors("plain::sent", ids.size()), {}};
    const auto image = Kokkos::create_mirror_view(side.ids);
    for (std::size_t i = 0; i < ids.size(); ++i) image(i) = ids[i];
    Kokkos::deep_copy(side.ids, image);
    side.on_host = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), side.packed);
    entries_.push_back(side);
  }
  std::int64_t first = owned;
  for (const auto& [rank, count] : received) {
    Side side{rank, {}, first, Vectors("plain::received", count), {}};
    side.on_host = Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), side.packed);
    ghosts_.push_back(side);
    first += count;
  }
}

auto PlainLists::rows(const Side& side, const Vectors& vectors) {
  const auto last = side.first + static_cast<std::int64_t>(side.packed.extent(0));
  return Kokkos::subview(vectors, Kokkos::make_pair(side.first, last), Kokkos::ALL);
}

void PlainLists::pack(const Side& side, const Vectors& x) {
  const auto ids = side.ids;
  const auto packed = side.packed;
  Kokkos::parallel_for(
      "plain::pack", Kokkos::RangePolicy<Space>(0, static_cast<int>(ids.size())), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < 3; ++c) packed(i, c) = x(ids(i), c);
      });
}

/// One thread needs no atomics, which would cost it several times the additions.
void PlainLists::add(const Side& side, const Vectors& force) {
  const auto ids = side.ids;
  const auto packed = side.packed;
  const bool is_alone = Space().concurrency() == 1;
  Kokkos::parallel_for(
      "plain::add", Kokkos::RangePolicy<Space>(0, static_cast<int>(ids.size())), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < 3; ++c) {
          if (is_alone) {
            force(ids(i), c) += packed(i, c);
          } else {
            Kokkos::atomic_add(&force(ids(i), c), packed(i, c));
          }
        }
      });
}

void PlainLists::receive(const Side& side, double* data, int tag) {
  MPI_Irecv(data, count_of(side), MPI_DOUBLE, side.rank, tag, comm_, &requests_.emplace_back());
}
void PlainLists::send(const Side& side, const double* data, int tag) {
  MPI_Isend(data, count_of(side), MPI_DOUBLE, side.rank, tag, comm_, &requests_.emplace_back());
}
void PlainLists::wait() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void PlainLists::gather(const Vectors& x) {
  requests_.clear();
  for (const Side& side : ghosts_) receive(side, is_staged_ ? side.on_host.data() : rows(side, x).data(), 0);
  for (const Side& side : entries_) {
    pack(side, x);
    if (is_staged_) Kokkos::deep_copy(Space(), side.on_host, side.packed);
  }
  Space().fence();
  for (const Side& side : entries_) send(side, is_staged_ ? side.on_host.data() : side.packed.data(), 0);
  wait();
  if (!is_staged_) return;
  for (const Side& side : ghosts_) Kokkos::deep_copy(Space(), rows(side, x), side.on_host);
  Space().fence();
}

void PlainLists::scatter_add(const Vectors& force) {
  requests_.clear();
  for (const Side& side : entries_) receive(side, is_staged_ ? side.on_host.data() : side.packed.data(), 1);
  if (is_staged_) {
    for (const Side& side : ghosts_) Kokkos::deep_copy(Space(), side.on_host, rows(side, force));
  }
  // Of the kernels that made the forces, too.
  if (!on_host) Space().fence();
  for (const Side& side : ghosts_) send(side, is_staged_ ? side.on_host.data() : rows(side, force).data(), 1);
  wait();
  for (const Side& side : entries_) {
    if (is_staged_) Kokkos::deep_copy(Space(), side.packed, side.on_host);
    add(side, force);
  }
  Space().fence();
}

}  // namespace selvage::bench
