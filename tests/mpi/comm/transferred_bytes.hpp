#pragma once

#include "space.hpp"

#include <selvage/comm/context.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace selvage::test {

using ByteView = Kokkos::View<unsigned char*, Space::memory_space>;
using HostBytes = Kokkos::View<unsigned char*, Kokkos::HostSpace>;

/// Bytes that partners can map, and their image on the host.
class Bytes {
 public:
  Bytes(const Context& context, std::int64_t size, bool is_shared = true)
      : context_(context), is_shared_(on_host && is_shared) {
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(size, 1));
    if (is_shared_) {
      memory_ = context.allocate_shared(bytes);
      view_ = ByteView(static_cast<unsigned char*>(memory_), bytes);
    } else {
      view_ = ByteView("bytes", bytes);
    }
    image_ = HostBytes("image", bytes);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() {
    if (is_shared_) context_.deallocate_shared(memory_);
  }

  [[nodiscard]] const ByteView& view() const { return view_; }
  [[nodiscard]] unsigned char* image() const { return image_.data(); }
  [[nodiscard]] std::size_t size() const { return image_.size(); }

  /// Other values for each byte, round and rank.
  static unsigned char value(std::size_t byte, int round, int rank) {
    return static_cast<unsigned char>((byte * 7 + static_cast<std::size_t>(round) * 31 + rank * 101) % 251);
  }
  void fill(int round, int rank) const {
    for (std::size_t i = 0; i < size(); ++i) image_(i) = value(i, round, rank);
    Kokkos::deep_copy(view_, image_);
  }
  void poison() const {
    Kokkos::deep_copy(image_, 0xee);
    Kokkos::deep_copy(view_, image_);
  }
  [[nodiscard]] std::vector<unsigned char> read() const {
    Kokkos::deep_copy(image_, view_);
    return {image_.data(), image_.data() + size()};
  }

 private:
  Context context_;
  bool is_shared_;
  void* memory_ = nullptr;
  ByteView view_;
  HostBytes image_;
};

}  // namespace selvage::test
