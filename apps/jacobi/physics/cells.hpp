#pragma once

// Members of Solver that set cells, read them and time what is done with them. solver.hpp includes this.

#include "jacobi/solver.hpp"

#include <algorithm>
#include <limits>

namespace selvage::jacobi {

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::set_initial_values() {
  const HostView host = Kokkos::create_mirror_view(fields_[0]);
  std::array<std::int64_t, D> origin;
  for (int axis = 0; axis < D; ++axis) origin[axis] = grid_.box().begin[axis] - ghost_cells();
  const auto slow_extent = static_cast<std::int64_t>(host.extent(0));
  const auto y_extent = static_cast<std::int64_t>(host.extent(D - 2));
  const auto x_extent = static_cast<std::int64_t>(host.extent(D - 1));
  Real* cell = host.data();
  for (std::int64_t z = 0; z < (D == 3 ? slow_extent : 1); ++z) {
    for (std::int64_t y = 0; y < y_extent; ++y) {
      for (std::int64_t x = 0; x < x_extent; ++x) {
        auto global = origin;
        if constexpr (D == 3) global[0] += z;
        global[D - 2] += y;
        global[D - 1] += x;
        *cell++ = static_cast<Real>(problem_.initial_value(global));
      }
    }
  }
  // Both fields hold the boundary in their outer ghosts, which nothing writes again.
  for (const View& field : fields_) Kokkos::deep_copy(field, host);
}

template <class Real, class Stencil, class Space>
std::vector<Real> Solver<Real, Stencil, Space>::source_factors(int axis, int ghosts) const {
  const double scale = axis > 0 ? 1.0
                                : problem_.amplitude * (Stencil::source_weight / Stencil::weight) *
                                      scaled_laplacian(problem_.cells, problem_.periodic);
  const Box<D> box = grid_.box();
  std::vector<Real> factors;
  for (const double factor : problem_.mode(axis, box.begin[axis] - ghosts, box.end[axis] + ghosts))
    factors.push_back(static_cast<Real>(scale * factor));
  return factors;
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::set_source() {
  for (int axis = 0; axis < D; ++axis) {
    const std::vector<Real> factors = source_factors(axis, ghost_cells());
    source_[axis] = Table("source", factors.size());
    const auto host = Kokkos::create_mirror_view(source_[axis]);
    std::ranges::copy(factors, host.data());
    Kokkos::deep_copy(source_[axis], host);
  }
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::set_up_persistent() {
  if constexpr (std::is_same_v<Stencil, FivePoint> && std::is_same_v<Space, Kokkos::DefaultExecutionSpace>) {
    PersistentSource<Real> source;
    if (problem_.has_source())
      source = {source_factors(0, persistent_steps_per_pass<Real>()), source_factors(1, 0)};
    persistent_ = std::make_unique<PersistentSweeps<Real>>(space_, grid_, problem_, source);
    persistent_->load(owned_cell(field()), static_cast<std::ptrdiff_t>(field().stride(0)));
  } else {
    throw Error(ErrorKind::unsupported, "the persistent form has only the 5-point stencil");
  }
}

template <class Real, class Stencil, class Space>
auto Solver<Real, Stencil, Space>::strides() const -> Strides<D> {
  Strides<D> stride{};
  stride.y = persistent_ ? persistent_->stride() : static_cast<std::ptrdiff_t>(field().stride(D - 2));
  if constexpr (D == 3) stride.z = static_cast<std::ptrdiff_t>(field().stride(0));
  return stride;
}

template <class Real, class Stencil, class Space>
Real* Solver<Real, Stencil, Space>::owned_cell(const View& field) const {
  Real* cell = field.data();
  for (int axis = 0; axis < D; ++axis)
    cell += ghost_cells() * static_cast<std::ptrdiff_t>(field.stride(axis));
  return cell;
}

template <class Real, class Stencil, class Space>
const Real* Solver<Real, Stencil, Space>::first_cell() const {
  return persistent_ ? persistent_->first_cell() : owned_cell(field());
}

template <class Real, class Stencil, class Space>
auto Solver<Real, Stencil, Space>::sweep_fields() const -> SweepFields<Real, D> {
  const View& from = fields_[current_];
  SweepFields<Real, D> fields{from.data(), fields_[1 - current_].data(), strides(), {}};
  for (int axis = 0; axis < D; ++axis) fields.source.axis[axis] = source_[axis].data();
  return fields;
}

template <class Real, class Stencil, class Space>
template <class Visit>
void Solver<Real, Stencil, Space>::for_each_owned_row(const Visit& visit) const {
  const std::int64_t planes = D == 3 ? own_.extent(0) : 1;
  const std::int64_t first_plane = D == 3 ? own_.begin[0] : 0;
  std::int64_t packed = 0;
  for (std::int64_t z = 0; z < planes; ++z) {
    for (std::int64_t y = 0; y < own_.extent(D - 2); ++y) {
      const std::int64_t plane =
          D == 3 ? (first_plane + z) * static_cast<std::int64_t>(field().stride(0)) : 0;
      const std::int64_t row = (own_.begin[D - 2] + y) * static_cast<std::int64_t>(field().stride(D - 2));
      visit(plane + row + own_.begin[D - 1], packed);
      packed += own_.extent(D - 1);
    }
  }
}

template <class Real, class Stencil, class Space>
std::vector<Real> Solver<Real, Stencil, Space>::owned_values() const {
  if (persistent_) persistent_->store(owned_cell(field()), static_cast<std::ptrdiff_t>(field().stride(0)));
  space_.fence("jacobi: before reading the field");
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, field());
  std::vector<Real> values(static_cast<std::size_t>(own_.cells()));
  for_each_owned_row([&](std::int64_t local, std::int64_t packed) {
    std::copy_n(host.data() + local, own_.extent(D - 1), values.data() + packed);
  });
  return values;
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::restore(std::int64_t step, std::span<const Real> values) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, field());
  for_each_owned_row([&](std::int64_t local, std::int64_t packed) {
    std::copy_n(values.data() + packed, own_.extent(D - 1), host.data() + local);
  });
  Kokkos::deep_copy(field(), host);
  step_ = step;
  ghosts_are_stale_ = true;
  if (persistent_) persistent_->load(owned_cell(field()), static_cast<std::ptrdiff_t>(field().stride(0)));
}

template <class Real, class Stencil, class Space>
double Solver<Real, Stencil, Space>::time_copy() {
  double best_s = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < 5; ++repetition) {
    const Kokkos::Timer timer;
    Kokkos::deep_copy(space_, fields_[1 - current_], fields_[current_]);
    space_.fence("jacobi: after a timed copy");
    best_s = std::min(best_s, timer.seconds());
  }
  return best_s;
}

template <class Real, class Stencil, class Space>
double Solver<Real, Stencil, Space>::time_exchange() {
  // In turns, as the sweeps do: the exchange relies on it. An even number leaves the turn where it was.
  constexpr int repetitions = 10;
  const Kokkos::Timer timer;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    halo_->exchange(space_, fields_[(current_ + repetition) % 2]);
  }
  space_.fence("jacobi: after timed exchanges");
  return timer.seconds() / repetitions;
}

}  // namespace selvage::jacobi
