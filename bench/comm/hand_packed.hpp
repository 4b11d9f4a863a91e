#pragma once

#include "sample_layouts.hpp"

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstdint>

namespace selvage::bench {

/// What most codes carry: a kernel packs blocks by a list, MPI, a kernel unpacks. GPU memory is staged through pinned memory.
template <class T>
class HandPacked {
 public:
  using Data = Kokkos::View<T*>;

  HandPacked(MPI_Comm comm, int to, int from, const SampleLayout& layout, const Data& source,
             const Data& target)
      : comm_(comm),
        to_(to),
        from_(from),
        length_(layout.block_length),
        source_(source),
        target_(target),
        blocks_("hand::blocks", layout.blocks.size()),
        sent_("hand::sent", layout.blocks.size() * length_),
        received_("hand::received", layout.blocks.size() * length_),
        sent_on_host_(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), sent_)),
        received_on_host_(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), received_)) {
    const auto image = Kokkos::create_mirror_view(blocks_);
    for (std::size_t i = 0; i < layout.blocks.size(); ++i) image(i) = layout.blocks[i];
    Kokkos::deep_copy(blocks_, image);
  }

  void run() const {
    const int bytes = static_cast<int>(sent_.size() * sizeof(T));
    MPI_Request requests[2];
    MPI_Irecv(received_on_host_.data(), bytes, MPI_BYTE, from_, 0, comm_, &requests[0]);
    move(source_, sent_, true);
    Kokkos::deep_copy(Space(), sent_on_host_, sent_);
    Space().fence();
    MPI_Isend(sent_on_host_.data(), bytes, MPI_BYTE, to_, 0, comm_, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    Kokkos::deep_copy(Space(), received_, received_on_host_);
    move(target_, received_, false);
    Space().fence();
  }

  /// What an application does with what it received, here as little as possible: reads it and writes it. Else a
  /// store into another core's cache would look free, since nobody fetched the line back.
  void use_received() const {
    const auto blocks = blocks_;
    const auto target = target_;
    const std::int64_t length = length_;
    Kokkos::parallel_for(
        "hand::use", Kokkos::RangePolicy<Space>(0, static_cast<int>(blocks.size())),
        KOKKOS_LAMBDA(int block) {
          for (std::int64_t i = 0; i < length; ++i) target(blocks(block) + i) *= T(-1);
        });
  }

  /// Public only because nvcc wants the functions of its kernels so.
  void move(const Data& data, const Data& packed, bool packs) const {
    const auto blocks = blocks_;
    const std::int64_t length = length_;
    Kokkos::parallel_for(
        "hand::move", Kokkos::RangePolicy<Space>(0, static_cast<int>(blocks.size())),
        KOKKOS_LAMBDA(int block) {
          const std::int64_t begin = blocks(block);
          for (std::int64_t i = 0; i < length; ++i) {
            if (packs) {
              packed(block * length + i) = data(begin + i);
            } else {
              data(begin + i) = packed(block * length + i);
            }
          }
        });
  }

 private:
  using Space = Kokkos::DefaultExecutionSpace;
  using Staging = decltype(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), Data()));

  MPI_Comm comm_;
  int to_;
  int from_;
  std::int64_t length_;
  Data source_;
  Data target_;
  Kokkos::View<std::int64_t*> blocks_;
  Data sent_;
  Data received_;
  Staging sent_on_host_;
  Staging received_on_host_;
};

}  // namespace selvage::bench
