#pragma once

#include <selvage/comm/detail/port_table.hpp>

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace selvage::detail {

class PortPlan;

[[nodiscard]] KOKKOS_INLINE_FUNCTION int lowest_bit(std::uint32_t bits) {
  return Kokkos::countr_zero(bits);
}

[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_inside(const std::int64_t* begin, const std::int64_t* end,
                                                    const std::int64_t* outer_begin,
                                                    const std::int64_t* outer_end) {
  for (int axis = 0; axis < 3; ++axis) {
    if (begin[axis] < outer_begin[axis] || end[axis] > outer_end[axis]) return false;
  }
  return true;
}

/// Those cells of a region that lie in a box, and the copy of them by one team.
class PortPart {
 public:
  KOKKOS_INLINE_FUNCTION PortPart(const PortRegion& region, const std::int64_t* begin,
                                  const std::int64_t* end) {
    for (int axis = 0; axis < port_axes; ++axis) {
      const bool whole = axis >= region.grid_axes;
      begin_[axis] = whole || region.begin[axis] > begin[axis] ? region.begin[axis] : begin[axis];
      const std::int64_t last = whole || region.end[axis] < end[axis] ? region.end[axis] : end[axis];
      extents_[axis] = last > begin_[axis] ? last - begin_[axis] : 0;
      if (!whole) cells_ *= static_cast<std::uint64_t>(extents_[axis]);
    }
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t cells() const { return cells_; }

  /// Stores the part into the neighbour's View. Called by all threads of a team; ends without a barrier.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void copy(const Team& team, const PortRegion& region) const {
    KOKKOS_IF_ON_HOST((if (rows_are_contiguous(region)) return copy_rows_on_host(team, region);))
    std::int64_t row_bytes = 0;
    if (vectorizes(region, row_bytes)) return copy_rows<16>(team, region, row_bytes / 16, 16, 1);
    const int inner = region.axes[port_axes - 1];
    const std::int64_t elements = extents_[inner];
    switch (region.word_bytes) {
      case 16:
        return copy_rows<16>(team, region, elements, 0, region.words);
      case 8:
        return copy_rows<8>(team, region, elements, 0, region.words);
      case 4:
        return copy_rows<4>(team, region, elements, 0, region.words);
      case 2:
        return copy_rows<2>(team, region, elements, 0, region.words);
      default:
        copy_rows<1>(team, region, elements, 0, region.words);
    }
  }

 private:
  template <int Bytes>
  struct alignas(Bytes) Word {
    unsigned char bytes[Bytes];
  };

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t offset(const std::int64_t* strides) const {
    std::int64_t bytes = 0;
    for (int axis = 0; axis < port_axes; ++axis) bytes += begin_[axis] * strides[axis];
    return bytes;
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION static bool rows_are_contiguous(const PortRegion& region) {
    const std::int64_t element_bytes = static_cast<std::int64_t>(region.word_bytes) * region.words;
    const int inner = region.axes[port_axes - 1];
    return region.source_strides[inner] == element_bytes && region.target_strides[inner] == element_bytes;
  }

  /// Whether the innermost rows are contiguous on both sides and lie on multiples of 16 bytes.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool vectorizes(const PortRegion& region,
                                                       std::int64_t& row_bytes) const {
    if (!rows_are_contiguous(region)) return false;
    row_bytes = extents_[region.axes[port_axes - 1]] * region.word_bytes * region.words;
    std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(region.source + offset(region.source_strides)) |
                          reinterpret_cast<std::uintptr_t>(region.target + offset(region.target_strides)) |
                          static_cast<std::uintptr_t>(row_bytes);
    for (int i = 0; i < port_axes - 1; ++i) {
      const int axis = region.axes[i];
      if (extents_[axis] == 1) continue;
      bits |= static_cast<std::uintptr_t>(region.source_strides[axis] | region.target_strides[axis]);
    }
    return bits % 16 == 0;
  }

  /// \param units        per row
  /// \param unit_stride  bytes, on both sides; 0: the strides of the innermost axis
  template <int Bytes, class Team>
  KOKKOS_INLINE_FUNCTION void copy_rows(const Team& team, const PortRegion& region, std::int64_t units,
                                        std::int64_t unit_stride, int words) const {
    using Unit = Word<Bytes>;
    const int* axes = region.axes;
    const auto row_units = static_cast<std::uint32_t>(units);
    const auto fast = static_cast<std::uint32_t>(extents_[axes[2]]);
    const auto middle = static_cast<std::uint32_t>(extents_[axes[1]]);
    const auto all = row_units * fast * middle * static_cast<std::uint32_t>(extents_[axes[0]]);
    const std::byte* source = region.source + offset(region.source_strides);
    std::byte* target = region.target + offset(region.target_strides);
    const std::int64_t from_stride = unit_stride != 0 ? unit_stride : region.source_strides[axes[3]];
    const std::int64_t to_stride = unit_stride != 0 ? unit_stride : region.target_strides[axes[3]];
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, all), [&](std::uint32_t index) {
      std::uint32_t row = index / row_units;
      const std::uint32_t unit = index - row * row_units;
      std::int64_t from = unit * from_stride;
      std::int64_t to = unit * to_stride;
      if (row != 0) {
        const std::uint32_t plane = row / fast;
        row -= plane * fast;
        const std::uint32_t block = plane / middle;
        from += row * region.source_strides[axes[2]] +
                (plane - block * middle) * region.source_strides[axes[1]] +
                block * region.source_strides[axes[0]];
        to += row * region.target_strides[axes[2]] +
              (plane - block * middle) * region.target_strides[axes[1]] +
              block * region.target_strides[axes[0]];
      }
      const auto* read = reinterpret_cast<const Unit*>(source + from);
      auto* write = reinterpret_cast<Unit*>(target + to);
      for (int word = 0; word < words; ++word) write[word] = read[word];
    });
  }

  template <class Team>
  void copy_rows_on_host(const Team& team, const PortRegion& region) const {
    const int* axes = region.axes;
    const std::int64_t fast = extents_[axes[2]];
    const std::int64_t middle = extents_[axes[1]];
    const auto row_bytes = static_cast<std::size_t>(extents_[axes[3]] * region.word_bytes * region.words);
    const std::byte* source = region.source + offset(region.source_strides);
    std::byte* target = region.target + offset(region.target_strides);
    const auto offset_of = [&](const std::int64_t* strides, std::int64_t row) {
      return row % fast * strides[axes[2]] + row / fast % middle * strides[axes[1]] +
             row / fast / middle * strides[axes[0]];
    };
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, fast * middle * extents_[axes[0]]),
                         [&](std::int64_t row) {
                           std::memcpy(target + offset_of(region.target_strides, row),
                                       source + offset_of(region.source_strides, row), row_bytes);
                         });
  }

  std::int64_t begin_[port_axes];
  std::int64_t extents_[port_axes];
  std::uint64_t cells_ = 1;
};

}  // namespace selvage::detail
