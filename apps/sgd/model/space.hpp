#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace selvage::sgd {

/// Where the training runs, and where its data, weights and gradients lie.
using Space = Kokkos::DefaultExecutionSpace;

/// Whether the host reads and writes that memory too, and runs what is enqueued at once.
inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

template <class T>
using Vector = Kokkos::View<T*, Kokkos::LayoutRight, Space::memory_space>;
/// Row-major: a sample, or an output of a layer, per row.
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Space::memory_space>;

/// A team per row of a matrix: a warp of a GPU, or eight where rows are long.
using RowTeams = Kokkos::TeamPolicy<Space>;
[[nodiscard]] inline RowTeams teams_of_rows(const Space& space, std::int64_t rows, int columns) {
  constexpr int warp = 32;
  if constexpr (on_host) return {space, static_cast<int>(rows), 1, 1};
  return {space, static_cast<int>(rows), columns <= 4 * warp ? 1 : 8, warp};
}

/// An instance whose work can be captured in a graph: on a GPU it has a stream of its own.
[[nodiscard]] inline Space make_instance() {
  if constexpr (on_host) return {};
  return Kokkos::Experimental::partition_space(Space(), 1)[0];
}

}  // namespace selvage::sgd
