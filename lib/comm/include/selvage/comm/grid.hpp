#pragma once

#include <selvage/comm/box.hpp>
#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/managed_view.hpp>
#include <selvage/topo/traffic.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage {

namespace detail {
struct GridPlaces;

/// Bytes of a View. \throws Error{usage} for a negative extent or more bytes than std::ptrdiff_t counts
[[nodiscard]] std::size_t view_bytes(std::span<const std::int64_t> extents, std::size_t element_bytes);
}  // namespace detail

/// The cells, and how they are dealt out to ranks. The same on all ranks.
template <int D>
struct GridOptions {
  /// Global cells per axis, ghosts not counted; axis 0 is a View's first.
  std::array<std::int64_t, D> cells{};
  /// Whether the last cell of an axis is the first one's neighbour.
  std::array<bool, D> periodic{};
  /// Ranks per axis; 0 lets the grid choose that axis.
  std::array<int, D> ranks{};
  /// Whether a rank may get another place than its number's, as with MPI_Cart_create's.
  bool reorder = true;
  /// By axis, where it is cut: the first global cell of each part but the first, ascending. Without any, an axis of n cells
  /// over p ranks gives the first n mod p ranks one cell more.
  std::array<std::vector<std::int64_t>, D> splits{};
};

/// Cells in a box, decomposed into one box per rank (1D to 3D): on a process grid, or by boxes that the caller brings.
///
/// Where `ranks` leaves a choice, the process grid that sends the fewest cells (least total surface, of equal parts) wins; of
/// equals the one with the longest rows (fewest cuts of the last axes). An axis with `splits` has one rank per part.
///
/// Ranks lie on a process grid of places, numbered with the last axis fastest. Rank i takes place i, unless `reorder` is
/// set and what `selvage-topo probe` has measured, else what Context::machine() tells of hosts and links, says that
/// another order carries clearly less over the slow ones: then rank 0 places the ranks by topo::place_by_portfolio, for a
/// halo of width 1 across faces. That is never worse than the order of ranks, by the same measure.
/// `SELVAGE_GRID_REORDER=no` in rank 0's environment forbids it.
///
/// Source: Faraji, thesis 6.3.2, for placement as part of the communicator.
template <int D>
class Grid {
  static_assert(D >= 1 && D <= 3, "selvage::Grid is for 1 to 3 axes");

 public:
  static constexpr int no_neighbour = -1;

  /// Collective; all ranks pass the same options.
  /// \throws Error{input} on every rank: cells below 1, a process grid that doesn't hold size() ranks, fewer cells than
  ///         ranks along an axis, splits that don't ascend within the cells, or a SELVAGE_GRID_REORDER other than yes and no;
  ///         Error{usage}: options that differ between ranks
  Grid(const Context& context, const GridOptions<D>& options);

  /// A partition of the caller's own, as of a load balancer: each rank brings the global cells that it owns, and rank i keeps
  /// them. Together the boxes hold each cell once. A rank has as many neighbours as boxes lie within the width of its ghosts,
  /// also behind thinner ones; all its ghosts in the grid are filled, across edges and corners too. Collective.
  ///
  /// Without a process grid there are no ranks per axis (ranks() is 0 everywhere), no coordinates, no neighbour in a
  /// direction, and no HaloExchange::device().
  /// \param options  cells and periodic, the same on all ranks; ranks and splits stay empty, reorder has no effect
  /// \throws Error{input} on every rank: cells below 1, an empty box or one that leaves the grid, boxes that overlap, cells that
  ///         no box holds. Error{usage}: options that differ between ranks, or that ask for a process grid
  Grid(const Context& context, const GridOptions<D>& options, const Box<D>& box);

  /// Whether ranks form a process grid, on which one neighbour lies in each direction. False for boxes of the caller's.
  [[nodiscard]] bool has_process_grid() const { return boxes_ == nullptr; }

  [[nodiscard]] const Context& context() const { return context_; }
  /// The communicator in which rank() and neighbour() count.
  [[nodiscard]] MPI_Comm comm() const { return context_.comm(); }
  [[nodiscard]] int rank() const { return context_.rank(); }
  [[nodiscard]] int size() const { return context_.size(); }
  [[nodiscard]] const std::array<std::int64_t, D>& cells() const { return options_.cells; }
  [[nodiscard]] const std::array<bool, D>& periodic() const { return options_.periodic; }
  /// Ranks per axis.
  [[nodiscard]] const std::array<int, D>& ranks() const { return options_.ranks; }
  /// This rank's place on the process grid. \throws Error{usage} without a process grid
  [[nodiscard]] std::array<int, D> coordinates() const { return coordinates_of(rank()); }
  [[nodiscard]] std::array<int, D> coordinates_of(int rank) const;
  /// The global cells of this rank.
  [[nodiscard]] Box<D> box() const { return box_of(rank()); }
  [[nodiscard]] Box<D> box_of(int rank) const;
  /// The rank one step along `direction` (each axis -1, 0 or 1); `no_neighbour` past a side that isn't
  /// periodic. \throws Error{usage} without a process grid
  [[nodiscard]] int neighbour(const std::array<int, D>& direction) const {
    return neighbour_of(rank(), direction);
  }
  [[nodiscard]] int neighbour_of(int rank, const std::array<int, D>& direction) const;

  /// This rank's cells, by their indices in a View with `width` ghosts, as of allocate().
  [[nodiscard]] Box<D> local_box(const Width<D>& width) const;
  /// The cells of `box` whose stencil of `width` reads no ghost that an exchange fills: they can be computed between start()
  /// and finish(), and without() gives the rest. Only sides with a neighbour move inwards: ghosts beyond the other sides
  /// are filled by the caller.
  /// \param box  this rank's cells, in any numbering. The result is empty where the box is too thin
  [[nodiscard]] Box<D> shrunk(Box<D> box, const Width<D>& width) const;
  /// `box` with `width` of the ghosts that exchanges fill, for steps that compute some of them too and exchange less often.
  [[nodiscard]] Box<D> grown(Box<D> box, const Width<D>& width) const;

  /// What each rank sends in one exchange of halos, exactly: one message to each neighbouring rank. A rank that is
  /// its own neighbour sends to itself. Not collective; the same on all ranks.
  /// \param corners  also across edges and corners, as HaloOptions says
  /// \param memory   where the Views lie
  [[nodiscard]] topo::Traffic halo_traffic(const Width<D>& width, std::int64_t bytes_per_cell, bool corners,
                                           topo::Memory memory) const;

  /// The process grid and how ranks lie on it, and why; one line.
  [[nodiscard]] std::string explain() const;

  /// A zeroed, managed View of this rank's box and its ghosts, in memory that the peers of this host can map.
  ///
  /// Extents are box().extent(axis) + width[axis].low + width[axis].high, then `components` if it isn't 0
  /// (rank D+1). The first cell of the box is at index width[axis].low. The memory lives until the last copy
  /// of the View is gone, and may outlive the Context; on GPUs it is the Context's GPU's. On hosts each View begins at a cache
  /// line, at another one of its page than the View before. Not collective.
  /// \throws Error{usage} for a negative width, Error{io} for more than the host's memory
  template <class T, class Layout = void, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
  [[nodiscard]] auto allocate(const std::string& label, const Width<D>& width) const {
    return allocate_view<T, D, Layout, MemorySpace>(label, width, 0, std::make_index_sequence<D>{});
  }
  template <class T, class Layout = void, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
  [[nodiscard]] auto allocate(const std::string& label, const Width<D>& width,
                              std::int64_t components) const {
    return allocate_view<T, D + 1, Layout, MemorySpace>(label, width, components,
                                                        std::make_index_sequence<D + 1>{});
  }

 private:
  template <class T, int Rank>
  struct AddPointers {
    using type = typename AddPointers<T, Rank - 1>::type*;
  };
  template <class T>
  struct AddPointers<T, 0> {
    using type = T;
  };

  void require_process_grid() const;
  /// Across a face.
  [[nodiscard]] bool has_neighbour(int axis, int side) const;
  [[nodiscard]] std::int64_t extent_with_ghosts(int axis, const Width<D>& width,
                                                std::int64_t components) const {
    if (axis == D) return components;
    require_width(width[axis]);
    return box().extent(axis) + width[axis].low + width[axis].high;
  }
  static void require_width(const detail::Side& side);

  template <class T, int Rank, class Layout, class MemorySpace, std::size_t... Axis>
  [[nodiscard]] auto allocate_view(const std::string& label, const Width<D>& width, std::int64_t components,
                                   std::index_sequence<Axis...>) const;

  Context context_;
  GridOptions<D> options_;
  std::shared_ptr<const detail::GridPlaces> places_;       ///< on a process grid
  std::shared_ptr<const std::vector<Box<D>>> boxes_ = {};  ///< the caller's, by rank
};

template <int D>
template <class T, int Rank, class Layout, class MemorySpace, std::size_t... Axis>
auto Grid<D>::allocate_view(const std::string& label, const Width<D>& width, std::int64_t components,
                            std::index_sequence<Axis...>) const {
  using Chosen =
      std::conditional_t<std::is_void_v<Layout>, typename MemorySpace::execution_space::array_layout, Layout>;
  using View = Kokkos::View<typename AddPointers<T, Rank>::type, Chosen, MemorySpace>;
  const std::array<std::int64_t, Rank> extents{
      extent_with_ghosts(static_cast<int>(Axis), width, components)...};
  [[maybe_unused]] const std::size_t bytes = detail::view_bytes(extents, sizeof(T));
  if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>) {
    return detail::managed_view<View>(label, detail::allocate_view_block(*context_.state(), bytes),
                                      extents[Axis]...);
  } else {
    const detail::DeviceScope scope(context_.device());
    const auto* space = context_.space_as<typename MemorySpace::execution_space>();
    if (space == nullptr) return View(label, extents[Axis]...);
    View view(Kokkos::view_alloc(*space, label), extents[Axis]...);
    space->fence("comm::allocate");
    return view;
  }
}

extern template class Grid<1>;
extern template class Grid<2>;
extern template class Grid<3>;

}  // namespace selvage
