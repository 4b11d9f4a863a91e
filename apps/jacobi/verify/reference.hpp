#pragma once

#include "jacobi/physics/problem.hpp"
#include "jacobi/physics/stencil.hpp"
#include "jacobi/physics/theory.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace selvage::jacobi {

/// The whole problem solved by one rank in plain loops: no decomposition, no exchange, no Kokkos. What the
/// distributed solver must equal bit by bit. Only a cell's own arithmetic is shared with it.
template <class Real, class Stencil>
class Reference {
 public:
  static constexpr int D = Stencil::dimensions;

  explicit Reference(const Problem<D>& problem) : problem_(problem) {
    std::int64_t cells = 1;
    for (int axis = D - 1; axis >= 0; --axis) {
      extent_[axis] = problem.cells[axis] + 2;
      stride_[axis] = cells;
      cells *= extent_[axis];
    }
    u_.resize(static_cast<std::size_t>(cells));
    set_initial_values();
    v_ = u_;
    if (problem.has_source()) set_source();
  }

  void sweep() {
    wrap_periodic_sides();
    for (std::int64_t z = 1; z <= planes(); ++z) {
      for (std::int64_t y = 1; y <= problem_.cells[D - 2]; ++y) {
        for (std::int64_t x = 1; x <= problem_.cells[D - 1]; ++x) update(z, y, x);
      }
    }
    std::swap(u_, v_);
  }

  /// \param cell  global, without ghosts
  [[nodiscard]] Real at(const std::array<std::int64_t, D>& cell) const {
    std::int64_t index = 0;
    for (int axis = 0; axis < D; ++axis) index += (cell[axis] + 1) * stride_[axis];
    return u_[static_cast<std::size_t>(index)];
  }

 private:
  [[nodiscard]] std::int64_t planes() const { return D == 3 ? problem_.cells[0] : 1; }

  [[nodiscard]] std::int64_t offset(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return (D == 3 ? z * stride_[0] : 0) + y * stride_[D - 2] + x;
  }

  void update(std::int64_t z, std::int64_t y, std::int64_t x) {
    Strides<D> stride{};
    stride.y = stride_[D - 2];
    if constexpr (D == 3) stride.z = stride_[0];
    const std::int64_t i = offset(z, y, x);
    Real sum = Stencil::sum(u_.data() + i, stride);
    if (problem_.has_source()) {
      Real factor = source_[D - 2][static_cast<std::size_t>(y)];
      if constexpr (D == 3) factor = source_[0][static_cast<std::size_t>(z)] * factor;
      sum += factor * source_[D - 1][static_cast<std::size_t>(x)];
    }
    v_[static_cast<std::size_t>(i)] = static_cast<Real>(Stencil::weight) * sum;
  }

  void set_initial_values() {
    for (std::size_t i = 0; i < u_.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      std::array<std::int64_t, D> cell;
      for (int axis = 0; axis < D; ++axis) {
        cell[axis] = rest / stride_[axis] - 1;
        rest %= stride_[axis];
      }
      u_[i] = static_cast<Real>(problem_.initial_value(cell));
    }
  }

  void set_source() {
    const double scale = problem_.amplitude * (Stencil::source_weight / Stencil::weight) *
                         scaled_laplacian(problem_.cells, problem_.periodic);
    for (int axis = 0; axis < D; ++axis) {
      for (const double factor : problem_.mode(axis, -1, problem_.cells[axis] + 1)) {
        source_[axis].push_back(static_cast<Real>(axis == 0 ? scale * factor : factor));
      }
    }
  }

  /// Axis by axis over the full extents, so that corners come right too.
  void wrap_periodic_sides() {
    for (int axis = 0; axis < D; ++axis) {
      if (!problem_.periodic[axis]) continue;
      const std::int64_t n = problem_.cells[axis];
      for (std::size_t i = 0; i < u_.size(); ++i) {
        const std::int64_t place = static_cast<std::int64_t>(i) / stride_[axis] % extent_[axis];
        if (place == 0) u_[i] = u_[i + static_cast<std::size_t>(n * stride_[axis])];
        if (place == n + 1) u_[i] = u_[i - static_cast<std::size_t>(n * stride_[axis])];
      }
    }
  }

  Problem<D> problem_;
  std::array<std::int64_t, D> extent_{};
  std::array<std::int64_t, D> stride_{};
  std::vector<Real> u_;
  std::vector<Real> v_;
  std::array<std::vector<Real>, D> source_;
};

}  // namespace selvage::jacobi
