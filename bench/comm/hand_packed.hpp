#pragma once

#include "../support/on_host.hpp"
#include "messages.hpp"
#include "sample_layouts.hpp"

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstdint>

namespace selvage::bench {

/// What most codes carry: a kernel packs blocks by a list, MPI, a kernel unpacks.
template <class T>
class HandPacked {
 public:
  using Data = Kokkos::View<T*>;

  HandPacked(MPI_Comm comm, Messages messages, int to, int from, const SampleLayout& layout,
             const Data& source, const Data& target)
      : comm_(comm),
        messages_(messages),
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
    const bool is_staged = messages_ == Messages::staged;
    MPI_Irecv(is_staged ? received_on_host_.data() : received_.data(), bytes, MPI_BYTE, from_, 0, comm_,
              &requests[0]);
    move(source_, sent_, true);
    if (is_staged) Kokkos::deep_copy(Space(), sent_on_host_, sent_);
    Space().fence();
    MPI_Isend(is_staged ? sent_on_host_.data() : sent_.data(), bytes, MPI_BYTE, to_, 0, comm_, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (is_staged) Kokkos::deep_copy(Space(), received_, received_on_host_);
    move(target_, received_, false);
    Space().fence();
  }

  /// What an application does with what it received, here as little as possible: reads it and writes it. Else a
  /// store into another core's cache would look free, since nobody fetched the line back.
  void use_received() const {
    const auto target = target_;
    for_each_element(
        "hand::use", KOKKOS_LAMBDA(std::int64_t, std::int64_t place) { target(place) *= T(-1); });
  }

  /// Public only because nvcc wants the functions of its kernels so.
  void move(const Data& data, const Data& packed, bool packs) const {
    if (packs) {
      for_each_element(
          "hand::pack", KOKKOS_LAMBDA(std::int64_t i, std::int64_t place) { packed(i) = data(place); });
    } else {
      for_each_element(
          "hand::unpack", KOKKOS_LAMBDA(std::int64_t i, std::int64_t place) { data(place) = packed(i); });
    }
  }

  /// Calls function(place in the message, place in the data). A thread takes a block on a host, and an element on a GPU.
  template <class Function>
  void for_each_element(const char* label, const Function& function) const {
    const auto blocks = blocks_;
    const std::int64_t length = length_;
    const auto count = static_cast<std::int64_t>(blocks.size());
    if (on_host) {
      Kokkos::parallel_for(
          label, Range(0, count), KOKKOS_LAMBDA(std::int64_t block) {
            const std::int64_t begin = blocks(block);
            for (std::int64_t i = 0; i < length; ++i) function(block * length + i, begin + i);
          });
    } else {
      Kokkos::parallel_for(
          label, Range(0, count * length),
          KOKKOS_LAMBDA(std::int64_t i) { function(i, blocks(i / length) + i % length); });
    }
  }

 private:
  using Space = Kokkos::DefaultExecutionSpace;
  using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
  using Staging = decltype(Kokkos::create_mirror_view(Kokkos::SharedHostPinnedSpace(), Data()));

  MPI_Comm comm_;
  Messages messages_;
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
