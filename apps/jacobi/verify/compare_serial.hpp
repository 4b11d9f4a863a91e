#pragma once

#include "jacobi/verify/reference.hpp"

#include <selvage/agreement.hpp>
#include <selvage/comm/grid.hpp>
#include <selvage/error.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage::jacobi {

/// What the comparison with the serial reference found. The same on all ranks.
template <int D>
struct SerialComparison {
  std::int64_t cells = 0;  ///< compared
  std::int64_t different = 0;
  std::array<std::int64_t, D> first{};  ///< the first one that differs, global
  double distributed = 0;               ///< its value
  double serial = 0;                    ///< what the reference has there
};

namespace detail {

constexpr int comparison_tag = 0x3ac0;

template <class Real>
[[nodiscard]] auto bits_of(Real value) {
  return std::bit_cast<std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>>(value);
}

/// Compares one plane of the slowest axis of one rank's box.
template <class Real, class Stencil>
void compare_plane(const Reference<Real, Stencil>& reference, const Box<Stencil::dimensions>& plane,
                   std::span<const Real> values, SerialComparison<Stencil::dimensions>& result) {
  constexpr int D = Stencil::dimensions;
  auto cell = plane.begin;
  for (const Real value : values) {
    const Real expected = reference.at(cell);
    if (bits_of(value) != bits_of(expected)) {
      if (result.different++ == 0) {
        result.first = cell;
        result.distributed = static_cast<double>(value);
        result.serial = static_cast<double>(expected);
      }
    }
    ++result.cells;
    for (int axis = D - 1; axis > 0; --axis) {
      if (++cell[axis] < plane.end[axis]) break;
      cell[axis] = plane.begin[axis];
    }
  }
}

/// Rank 0 takes the boxes plane by plane, so that no message grows with the volume.
template <class Real, class Stencil>
SerialComparison<Stencil::dimensions> compare_boxes(const Grid<Stencil::dimensions>& grid,
                                                    const Reference<Real, Stencil>& reference,
                                                    std::span<const Real> own) {
  SerialComparison<Stencil::dimensions> result;
  std::vector<Real> received;
  for (int rank = 0; rank < grid.size(); ++rank) {
    auto plane = grid.box_of(rank);
    const std::int64_t planes = plane.extent(0);
    const auto cells = static_cast<std::size_t>(plane.cells() / planes);
    received.resize(cells);
    for (std::int64_t i = 0; i < planes; ++i) {
      plane.begin[0] = grid.box_of(rank).begin[0] + i;
      plane.end[0] = plane.begin[0] + 1;
      auto values = std::span<const Real>(received);
      if (rank == 0) {
        values = own.subspan(static_cast<std::size_t>(i) * cells, cells);
      } else {
        check_mpi(MPI_Recv(received.data(), static_cast<int>(cells * sizeof(Real)), MPI_BYTE, rank,
                           comparison_tag, grid.comm(), MPI_STATUS_IGNORE),
                  "MPI_Recv of a plane to compare");
      }
      compare_plane(reference, plane, values, result);
    }
  }
  return result;
}

template <class Real, int D>
void send_planes(const Grid<D>& grid, std::span<const Real> own) {
  const auto planes = static_cast<std::size_t>(grid.box().extent(0));
  const std::size_t cells = own.size() / planes;
  for (std::size_t i = 0; i < planes; ++i) {
    check_mpi(MPI_Send(own.data() + i * cells, static_cast<int>(cells * sizeof(Real)), MPI_BYTE, 0,
                       comparison_tag, grid.comm()),
              "MPI_Send of a plane to compare");
  }
}

}  // namespace detail

/// Solves the whole problem again on rank 0, `steps` sweeps from the start, and compares every cell bit by
/// bit. Collective. Rank 0 needs memory for the whole problem; the others wait as long as that takes at
/// 0.02 GLUPS, and SELVAGE_IO_TIMEOUT_MS more.
/// \param own  this rank's cells, row-major
template <class Stencil, class Real>
[[nodiscard]] SerialComparison<Stencil::dimensions> compare_with_serial(
    const Grid<Stencil::dimensions>& grid, const Problem<Stencil::dimensions>& problem, std::int64_t steps,
    std::vector<Real> own) {
  // Shared with threads that are given up: they go on when this has thrown.
  struct Work {
    Grid<Stencil::dimensions> grid;
    Problem<Stencil::dimensions> problem;
    std::vector<Real> own;
    SerialComparison<Stencil::dimensions> result;
  };
  const std::shared_ptr<Work> shared(new Work{grid, problem, std::move(own), {}});
  double updates = static_cast<double>(steps);
  for (const std::int64_t cells : problem.cells) updates *= static_cast<double>(cells);
  const auto patience_ms = io_timeout_ms() + static_cast<std::int64_t>(std::min(updates / 2e4, 8e10));
  together_bounded(
      grid.comm(), "comparing with the serial solution",
      [shared, steps] {
        const std::span<const Real> cells(shared->own);
        if (shared->grid.rank() != 0) return detail::send_planes(shared->grid, cells);
        Reference<Real, Stencil> reference(shared->problem);
        for (std::int64_t step = 0; step < steps; ++step) reference.sweep();
        shared->result = detail::compare_boxes(shared->grid, reference, cells);
      },
      patience_ms);
  together_bounded(grid.comm(), "sharing the comparison", [shared] {
    check_mpi(MPI_Bcast(&shared->result, sizeof(shared->result), MPI_BYTE, 0, shared->grid.comm()),
              "MPI_Bcast of a comparison");
  });
  return shared->result;
}

}  // namespace selvage::jacobi
