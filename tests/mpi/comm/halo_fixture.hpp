#pragma once

#include "job.hpp"
#include "links/registry.hpp"
#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage::test {

using Index = std::array<std::int64_t, 4>;  ///< cell indices, then the component; unused entries are 0

/// Every transport of halos that the library has.
inline std::vector<Transport> halo_transports() {
  std::vector<Transport> all;
  for (const detail::LinkCandidate& candidate : detail::halo_transports()) all.push_back(candidate.transport);
  return all;
}

/// Whether a transport can carry halos between all ranks of this job, in Views of Grid::allocate.
inline bool can_carry(Transport transport) {
  if (this_job().ranks() == 1) return true;  // its own ghosts, by a copy
  if (transport == Transport::peer) return this_job().is_on_one_host();
  if (transport == Transport::copy_engine)
    return !on_host && this_job().is_on_one_host() && !is_carried_by_proxy();
  return true;
}
/// Only what depends on the MPI may be refused then: few take GPU memory.
inline bool must_carry(Transport transport) {
  return can_carry(transport) && (on_host || transport != Transport::mpi_direct);
}
inline std::vector<Transport> carrying_transports() {
  return cases_where(halo_transports(), can_carry);
}

/// Collective: the error that the library refuses halos over a transport with.
inline std::optional<Error> refusal_of(const Context& context, Transport transport) {
  const Grid<1> ring(context, {.cells = {context.size()}, .periodic = {true}});
  const auto view = ring.allocate<double>("probe", 1);
  return thrown_by(
      [&] { const HaloExchange halo(Space(), ring, {.width = 1, .transport = transport}, view); });
}

/// Collective: whether a transport carries halos between all ranks.
inline bool is_available(const Context& context, Transport transport) {
  const auto error = refusal_of(context, transport);
  if (error) {
    EXPECT_FALSE(must_carry(transport)) << error->message();
    EXPECT_EQ(to_string(error->kind()), to_string(ErrorKind::unsupported)) << error->message();
  } else {
    EXPECT_TRUE(can_carry(transport)) << to_string(transport);
  }
  return !error;
}

/// Collective: whether the MPI that the job runs with keeps a transport from it.
inline bool is_refused(const Context& context, Transport transport) {
  return !must_carry(transport) && !is_available(context, transport);
}

/// Collective: as many transports as stated carry halos, and the library refuses all others.
inline void expect_other_transports_refused() {
  const Context context(MPI_COMM_WORLD);
  const LeastCases least{.on_one_host = 3,
                         .on_several_hosts = 2,
                         .on_gpus_of_one_host = is_carried_by_proxy() ? 2U : 3U,
                         .on_gpus_of_several_hosts = 1};
  std::size_t available = 0;
  for (const Transport transport : halo_transports()) available += is_available(context, transport) ? 1 : 0;
  EXPECT_GE(available, least.here(!on_host));
}

/// Collective: the transport chosen where peers can't be mapped.
inline Transport chosen_mpi(const Context& context) {
  return is_available(context, Transport::mpi_direct) ? Transport::mpi_direct : Transport::mpi_staged;
}

/// What an exchange or reduction ends in: a device can only report what it waited for in vain after the
/// fact.
template <class Function>
std::optional<Error> outcome_of(const HaloExchange& halo, const Function& function) {
  return thrown_by([&] {
    function();
    Space().fence();
    halo.check();
  });
}

/// A global grid and what is asked of the exchange; the rank count fits any from 1 to 8.
template <int D>
struct HaloCase {
  std::string name;
  std::array<std::int64_t, D> cells;
  std::array<bool, D> periodic;
  Width<D> width;
  bool corners = true;
  std::array<int, D> ranks{};  ///< 0: chosen
};

/// An element type, a layout and how many components a cell has (0: the View has the grid's rank).
template <int Axes, class Element, class ViewLayout, int CellComponents>
struct FieldKind {
  static constexpr int D = Axes;
  static constexpr int components = CellComponents;
  static constexpr int rank = components > 0 ? D + 1 : D;
  static constexpr bool strided = std::is_same_v<ViewLayout, Kokkos::LayoutStride>;
  using T = Element;
  using Layout = ViewLayout;
};

/// Whether a View's memory can be mapped by peers.
enum class Home { shared, heap };

#ifdef KOKKOS_ENABLE_CUDA
using UnmappableSpace = Kokkos::CudaUVMSpace;  ///< of which CUDA gives no handles
#else
using UnmappableSpace = Kokkos::HostSpace;
#endif

template <class T>
T to_element(std::int64_t value) {
  return T(static_cast<double>(value));
}
template <>
inline int to_element<int>(std::int64_t value) {
  return static_cast<int>(value);
}
template <>
inline std::int16_t to_element<std::int16_t>(std::int64_t value) {
  return static_cast<std::int16_t>(value % 32'000);
}
template <>
inline Kokkos::complex<double> to_element<Kokkos::complex<double>>(std::int64_t value) {
  return {static_cast<double>(value), static_cast<double>(-value)};
}

template <class View>
auto& element(const View& view, const Index& i) {
  if constexpr (View::rank() == 1) {
    return view(i[0]);
  } else if constexpr (View::rank() == 2) {
    return view(i[0], i[1]);
  } else if constexpr (View::rank() == 3) {
    return view(i[0], i[1], i[2]);
  } else {
    return view(i[0], i[1], i[2], i[3]);
  }
}

/// A field with ghosts on the device and its image on the host. Strided kinds are sub-Views with an offset,
/// cut out of a larger View along every axis.
template <class Kind>
class TestField {
  static constexpr int D = Kind::D;
  static constexpr int pad = Kind::strided ? 2 : 0;
  using ParentLayout = std::conditional_t<Kind::strided, Kokkos::LayoutRight, typename Kind::Layout>;

 public:
  TestField(const Grid<D>& grid, const Width<D>& width, Home home) : parent_(allocate(grid, width)) {
    if (home == Home::heap) {
      heap_ = decltype(heap_)("heap field", parent_.span());
      parent_ = Parent(heap_.data(), parent_.layout());
    }
    mirror_ = Kokkos::create_mirror(parent_);
  }

  auto view() const { return inside(parent_); }
  auto host() const { return inside(mirror_); }
  void to_device() const { Kokkos::deep_copy(parent_, mirror_); }
  void to_host() const { Kokkos::deep_copy(mirror_, parent_); }

  /// Extents per cell axis, then the number of components.
  [[nodiscard]] Index extents() const {
    Index result{1, 1, 1, 1};
    const auto image = host();
    for (int axis = 0; axis < Kind::rank; ++axis)
      result[axis] = static_cast<std::int64_t>(image.extent(axis));
    return result;
  }

 private:
  static auto allocate(const Grid<D>& grid, const Width<D>& width) {
    Width<D> padded = width;
    for (int axis = 0; axis < D; ++axis) padded[axis] = {width[axis].low + pad, width[axis].high + pad};
    using T = typename Kind::T;
    if constexpr (Kind::components > 0) {
      return grid.template allocate<T, ParentLayout>("field", padded, Kind::components + pad);
    } else {
      return grid.template allocate<T, ParentLayout>("field", padded);
    }
  }

  template <class View>
  static auto inside(const View& view) {
    if constexpr (Kind::strided) {
      return cut(view, std::make_index_sequence<Kind::rank>{});
    } else {
      return view;
    }
  }
  template <class View, std::size_t... Axis>
  static auto cut(const View& view, std::index_sequence<Axis...>) {
    return Kokkos::subview(view, range_along(view, static_cast<int>(Axis))...);
  }
  template <class View>
  static std::pair<std::size_t, std::size_t> range_along(const View& view, int axis) {
    const std::size_t low = axis < D ? pad : pad / 2;
    const std::size_t high = axis < D ? pad : pad - pad / 2;
    return {low, view.extent(axis) - high};
  }

  using Parent = decltype(allocate(std::declval<Grid<D>>(), std::declval<Width<D>>()));
  Kokkos::View<typename Kind::T*, UnmappableSpace> heap_;
  Parent parent_;
  typename Parent::HostMirror mirror_;
};

/// What a cell of the global grid holds: different for each cell, component, field and round.
template <int D>
std::int64_t cell_value(const std::array<std::int64_t, D>& cell, std::int64_t component, int field,
                        int round) {
  std::int64_t value = round * 7 + field * 3 + 1;
  for (int axis = 0; axis < D; ++axis) value = value * 37 + cell[axis];
  return (value * 5 + component) % 16'000'000;  // exact in a float
}
inline constexpr std::int64_t poison = 16'500'001;

template <class Function>
void for_each_index(const Index& extents, const Function& function) {
  for (std::int64_t i = 0; i < extents[0]; ++i)
    for (std::int64_t j = 0; j < extents[1]; ++j)
      for (std::int64_t k = 0; k < extents[2]; ++k)
        for (std::int64_t l = 0; l < extents[3]; ++l) function(Index{i, j, k, l});
}

/// Where a View index lies: its direction from the box (all 0 inside), its global cell, wrapped where periodic, and whether the
/// grid has such a cell.
template <int D>
struct Location {
  bool exists = true;
  std::array<int, D> direction{};
  std::array<std::int64_t, D> cell{};
  std::int64_t component = 0;
  [[nodiscard]] int steps() const {
    return static_cast<int>(std::ranges::count_if(direction, [](int step) { return step != 0; }));
  }
};

template <int D>
Location<D> locate(const Grid<D>& grid, const Width<D>& width, const Index& index) {
  const Box<D> box = grid.box();
  Location<D> location;
  location.component = D < 4 ? index[D] : 0;
  for (int axis = 0; axis < D; ++axis) {
    const std::int64_t local = index[axis] - width[axis].low;
    location.direction[axis] = local < 0 ? -1 : local >= box.extent(axis) ? 1 : 0;
    const std::int64_t all = grid.cells()[axis];
    const std::int64_t cell = box.begin[axis] + local;
    location.exists = location.exists && (grid.periodic()[axis] || (cell >= 0 && cell < all));
    location.cell[axis] = ((box.begin[axis] + local) % all + all) % all;
  }
  return location;
}

/// Every owned cell holds its value; every ghost is poisoned.
template <class Kind>
void fill(const TestField<Kind>& field, const Grid<Kind::D>& grid, const Width<Kind::D>& width, int id,
          int round) {
  const auto image = field.host();
  for_each_index(field.extents(), [&](const Index& index) {
    const auto location = locate(grid, width, index);
    element(image, index) = to_element<typename Kind::T>(
        location.steps() == 0 ? cell_value<Kind::D>(location.cell, location.component, id, round) : poison);
  });
  field.to_device();
}

/// Counts elements that differ from what an exchange must leave: owned cells unchanged, ghosts that have an
/// owner holding that owner's value, all others still poisoned.
template <class Kind>
int count_wrong(const TestField<Kind>& field, const Grid<Kind::D>& grid, const HaloCase<Kind::D>& halo,
                int id, int round) {
  field.to_host();
  const auto image = field.host();
  int wrong = 0;
  for_each_index(field.extents(), [&](const Index& index) {
    const auto location = locate(grid, halo.width, index);
    const bool owned = location.steps() == 0;
    const bool filled = owned || (location.exists && (halo.corners || location.steps() == 1));
    const auto expected = to_element<typename Kind::T>(
        filled ? cell_value<Kind::D>(location.cell, location.component, id, round) : poison);
    if (element(image, index) != expected) ++wrong;
  });
  return wrong;
}

/// Counts elements that differ from what fill() left.
template <class Kind>
int count_touched(const TestField<Kind>& field, const Grid<Kind::D>& grid, const Width<Kind::D>& width,
                  int id, int round) {
  field.to_host();
  const auto image = field.host();
  int wrong = 0;
  for_each_index(field.extents(), [&](const Index& index) {
    const auto location = locate(grid, width, index);
    const auto expected = to_element<typename Kind::T>(
        location.steps() == 0 ? cell_value<Kind::D>(location.cell, location.component, id, round) : poison);
    if (element(image, index) != expected) ++wrong;
  });
  return wrong;
}

}  // namespace selvage::test
