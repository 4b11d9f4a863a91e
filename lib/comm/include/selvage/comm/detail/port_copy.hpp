#pragma once

#include <selvage/comm/detail/all_of_team.hpp>
#include <selvage/comm/detail/port_table.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace selvage::detail {

class PortPlan;

/// Element `index` of four, without an address: the array stays in registers.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t pick(const std::int64_t* values, int index) {
  return index == 0 ? values[0] : index == 1 ? values[1] : index == 2 ? values[2] : values[3];
}

/// Those cells of a region that lie in a box, and the copy of them by one team.
class PortPart {
 public:
  PortPart() = default;

  /// \param begin, end  View indices
  KOKKOS_INLINE_FUNCTION PortPart(const PortRegion& region, const std::int64_t* begin,
                                  const std::int64_t* end) {
    std::int64_t first[port_axes];
    cells_ = 1;
    for (int i = 0; i < port_axes; ++i) {
      const int axis = region.view_axes[i];
      const bool whole = axis >= region.grid_axes;
      const std::int64_t box_begin = pick(begin, axis);
      const std::int64_t box_end = pick(end, axis);
      first[i] = whole || region.begin[i] > box_begin ? region.begin[i] : box_begin;
      const std::int64_t last = whole || region.end[i] < box_end ? region.end[i] : box_end;
      extents_[i] = last > first[i] ? static_cast<std::uint32_t>(last - first[i]) : 0;
      if (!whole) cells_ *= extents_[i];
    }
    if (cells_ > 0) locate(region, first);
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t cells() const { return cells_; }

  /// Stores the part into the neighbour's View. Called by all threads of a team; ends without a barrier.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void copy(const Team& team) const {
    KOKKOS_IF_ON_HOST((if (is_contiguous_) return copy_rows(team);))
    switch (unit_bytes_) {
      case 16:
        return copy_units<16>(team);
      case 8:
        return copy_units<8>(team);
      case 4:
        return copy_units<4>(team);
      case 2:
        return copy_units<2>(team);
      default:
        copy_units<1>(team);
    }
  }

 private:
  template <int Bytes>
  struct alignas(Bytes) Unit {
    unsigned char bytes[Bytes];
  };

  /// Addresses, and how wide the rows can be read and written.
  KOKKOS_INLINE_FUNCTION void locate(const PortRegion& region, const std::int64_t* first) {
    source_ = region.source;
    target_ = region.target;
    for (int i = 0; i < port_axes; ++i) {
      source_ += first[i] * region.source_strides[i];
      target_ += first[i] * region.target_strides[i];
      source_strides_[i] = region.source_strides[i];
      target_strides_[i] = region.target_strides[i];
    }
    const std::int64_t element_bytes = static_cast<std::int64_t>(region.word_bytes) * region.words;
    unit_bytes_ = region.word_bytes;
    words_ = region.words;
    is_contiguous_ =
        source_strides_[port_axes - 1] == element_bytes && target_strides_[port_axes - 1] == element_bytes;
    if (is_contiguous_ && is_aligned(16)) {
      unit_bytes_ = 16;
      words_ = 1;
      extents_[port_axes - 1] = static_cast<std::uint32_t>(row_bytes(element_bytes) / 16);
      source_strides_[port_axes - 1] = target_strides_[port_axes - 1] = 16;
    }
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t row_bytes(std::int64_t unit) const {
    return extents_[port_axes - 1] * unit;
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_aligned(std::int64_t bytes) const {
    std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(source_) |
                          reinterpret_cast<std::uintptr_t>(target_) |
                          static_cast<std::uintptr_t>(row_bytes(source_strides_[port_axes - 1]));
    for (int i = 0; i < port_axes - 1; ++i) {
      if (extents_[i] > 1) bits |= static_cast<std::uintptr_t>(source_strides_[i] | target_strides_[i]);
    }
    return bits % static_cast<std::uintptr_t>(bytes) == 0;
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint32_t rows() const {
    return extents_[0] * extents_[1] * extents_[2];
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t row_offset(std::uint32_t row,
                                                               const std::int64_t* strides) const {
    if (row == 0) return 0;
    const std::uint32_t plane = row / extents_[2];
    const std::uint32_t block = plane / extents_[1];
    return (row - plane * extents_[2]) * strides[2] + (plane - block * extents_[1]) * strides[1] +
           block * strides[0];
  }

  template <int Bytes, class Team>
  KOKKOS_INLINE_FUNCTION void copy_units(const Team& team) const {
    const std::uint32_t units = extents_[port_axes - 1];
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, units * rows()), [&](std::uint32_t index) {
      const std::uint32_t row = index < units ? 0 : index / units;
      const std::uint32_t unit = index - row * units;
      const auto* read = reinterpret_cast<const Unit<Bytes>*>(source_ + row_offset(row, source_strides_) +
                                                              unit * source_strides_[port_axes - 1]);
      auto* write = reinterpret_cast<Unit<Bytes>*>(target_ + row_offset(row, target_strides_) +
                                                   unit * target_strides_[port_axes - 1]);
      for (int word = 0; word < words_; ++word) write[word] = read[word];
    });
  }

  template <class Team>
  void copy_rows(const Team& team) const {
    const auto bytes = static_cast<std::size_t>(row_bytes(static_cast<std::int64_t>(unit_bytes_) * words_));
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, rows()), [&](std::uint32_t row) {
      std::memcpy(target_ + row_offset(row, target_strides_), source_ + row_offset(row, source_strides_),
                  bytes);
    });
  }

  const std::byte* source_ = nullptr;
  std::byte* target_ = nullptr;
  std::int64_t source_strides_[port_axes] = {};  ///< bytes; the last one of a unit
  std::int64_t target_strides_[port_axes] = {};
  std::uint32_t extents_[port_axes] = {};  ///< the last one in units
  std::int32_t unit_bytes_ = 0;
  std::int32_t words_ = 0;  ///< of unit_bytes_, per element
  bool is_contiguous_ = false;
  std::uint64_t cells_ = 0;
};

}  // namespace selvage::detail
