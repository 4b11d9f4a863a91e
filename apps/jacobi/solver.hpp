#pragma once

#include "common/breakdown.hpp"
#include "jacobi/edge_first.hpp"
#include "jacobi/persistent.hpp"
#include "jacobi/problem.hpp"
#include "jacobi/solver_options.hpp"
#include "jacobi/sweep.hpp"
#include "jacobi/theory.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace selvage::jacobi {

/// The Jacobi iteration on one rank's box: two fields that alternate, and the exchange of their ghosts.
///
/// Cell by cell the arithmetic is the same wherever a cell is computed, so fields don't depend on the number
/// of ranks, the process grid, overlap, transport or steps per exchange, to the bit. All members are
/// collective unless they say otherwise.
template <class Real, class Stencil, class Space = Kokkos::DefaultExecutionSpace>
class Solver {
 public:
  static constexpr int D = Stencil::dimensions;
  using MemorySpace = typename Space::memory_space;
  using View = std::conditional_t<D == 2, Kokkos::View<Real**, Kokkos::LayoutRight, MemorySpace>,
                                  Kokkos::View<Real***, Kokkos::LayoutRight, MemorySpace>>;

  /// Allocates, plans the exchange and sets the initial values.
  /// \throws what HaloExchange throws, e.g. for halos wider than a box, and what PersistentSweeps throws
  Solver(const Space& space, const Grid<D>& grid, const Problem<D>& problem, const SolverOptions& options,
         app::Breakdown& breakdown);

  /// Sweeps so far.
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] const Grid<D>& grid() const { return grid_; }
  [[nodiscard]] const Problem<D>& problem() const { return problem_; }
  [[nodiscard]] const HaloExchange& halo() const { return *halo_; }
  [[nodiscard]] const Space& space() const { return space_; }

  /// The field after step() sweeps of the plain form, ghosts included; cell (0, ..., 0) of the box is at index
  /// ghost_cells() on each axis.
  [[nodiscard]] const View& field() const { return fields_[current_]; }
  /// The first owned cell after step() sweeps, and how to get from a cell to its neighbours.
  [[nodiscard]] const Real* first_cell() const;
  [[nodiscard]] Strides<D> strides() const;
  [[nodiscard]] int ghost_cells() const { return options_.steps_per_exchange; }
  /// Null unless the options ask for it; then it has the newest cells, and not field().
  [[nodiscard]] const PersistentSweeps<Real>* persistent() const { return persistent_.get(); }

  void advance(std::int64_t sweeps = 1);
  /// Prepares one sweep and gives this rank's sum of the squared changes; accept() makes it count. Without
  /// accept() the field stays as it is.
  [[nodiscard]] double try_sweep() {
    if (persistent_) return persistent_->try_sweep();
    double sum = 0;
    sweep_into_other(&sum);
    return sum;
  }
  void accept() {
    if (persistent_) {
      persistent_->accept();
    } else {
      current_ = 1 - current_;
    }
    ++step_;
  }

  /// This rank's cells, contiguous and row-major, in host memory. Not collective.
  [[nodiscard]] std::vector<Real> owned_values() const;
  /// Continues from `values` (as owned_values() gives them) after `step` sweeps. Not collective, but no rank
  /// may sweep before all have restored.
  void restore(std::int64_t step, std::span<const Real> values);

  /// Bytes of one field on this rank, ghosts included.
  [[nodiscard]] std::int64_t field_bytes() const {
    return static_cast<std::int64_t>(field().size() * sizeof(Real));
  }
  /// Seconds to copy one field, the best of a few; leaves both fields equal. Only before the first sweep.
  [[nodiscard]] double time_copy();
  /// Seconds of one exchange that nothing hides, the mean of a few. Only before the first sweep.
  [[nodiscard]] double time_exchange();

 private:
  using HostView = typename View::HostMirror;
  using Table = Kokkos::View<Real*, MemorySpace>;

  void set_initial_values();
  void set_source();
  void set_up_persistent();
  /// The source's factors along an axis, from `ghosts` cells before this rank's box to as many behind it.
  [[nodiscard]] std::vector<Real> source_factors(int axis, int ghosts) const;
  [[nodiscard]] Real* owned_cell(const View& field) const;
  void sweep_into_other(double* squared_change_sum);
  void sweep_around_exchange(double* squared_change_sum);
  void set_up_edge_first();
  void sweep_edge_first(double* squared_change_sum);
  void sweep_boxes(app::Breakdown::Phase phase, const std::string& label, const std::vector<Box<D>>& boxes,
                   double* squared_change_sum);
  [[nodiscard]] SweepFields<Real, D> sweep_fields() const;
  /// Calls `visit(local row start, contiguous row start)` with offsets into the field and into
  /// owned_values().
  template <class Visit>
  void for_each_owned_row(const Visit& visit) const;

  Space space_;
  Grid<D> grid_;
  Problem<D> problem_;
  SolverOptions options_;
  Box<D> own_;  ///< this rank's cells, in local indices
  std::array<View, 2> fields_;
  std::array<Table, D> source_;
  std::optional<HaloExchange> halo_;
  /// With Overlap::kernel: what the sweeps send through.
  struct EdgeFirst {
    HaloExchange halo;
    HaloPort port;
    EdgeFirstTiles<D, Space> tiles;
  };
  std::optional<EdgeFirst> edge_first_;
  int current_ = 0;
  std::int64_t step_ = 0;
  bool ghosts_are_stale_ =
      true;  ///< the ghosts of field() are not what a run without restart would have there
  std::unique_ptr<PersistentSweeps<Real>> persistent_;

  app::Breakdown& breakdown_;
  app::Breakdown::Phase interior_;
  app::Breakdown::Phase edge_;
  app::Breakdown::Phase exchange_;
};

template <class Real, class Stencil, class Space>
Solver<Real, Stencil, Space>::Solver(const Space& space, const Grid<D>& grid, const Problem<D>& problem,
                                     const SolverOptions& options, app::Breakdown& breakdown)
    : space_(space),
      grid_(grid),
      problem_(problem),
      options_(options),
      own_(grid.local_box(options.steps_per_exchange)),
      fields_{
          grid.template allocate<Real, Kokkos::LayoutRight, MemorySpace>("u", options.steps_per_exchange),
          grid.template allocate<Real, Kokkos::LayoutRight, MemorySpace>("v", options.steps_per_exchange)},
      breakdown_(breakdown),
      interior_(breakdown.phase("interior")),
      edge_(breakdown.phase("edge")),
      exchange_(breakdown.phase("halo")) {
  set_initial_values();
  if (problem_.has_source()) set_source();
  // Last: from here on neighbours may write ghosts.
  halo_.emplace(space, grid, detail::halo_options<D>(options, Stencil::reads_corners), fields_[0],
                fields_[1]);
  if (options_.persistent) {
    set_up_persistent();
  } else if (options_.overlap == Overlap::kernel) {
    set_up_edge_first();
  }
}

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
void Solver<Real, Stencil, Space>::advance(std::int64_t sweeps) {
  if (persistent_) {
    persistent_->advance(sweeps);
    step_ += sweeps;
    return;
  }
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    sweep_into_other(nullptr);
    accept();
  }
}

template <class Real, class Stencil, class Space>
auto Solver<Real, Stencil, Space>::sweep_fields() const -> SweepFields<Real, D> {
  const View& from = fields_[current_];
  SweepFields<Real, D> fields{from.data(), fields_[1 - current_].data(), strides(), {}};
  for (int axis = 0; axis < D; ++axis) fields.source.axis[axis] = source_[axis].data();
  return fields;
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::sweep_boxes(app::Breakdown::Phase phase, const std::string& label,
                                               const std::vector<Box<D>>& boxes, double* squared_change_sum) {
  const auto timer = breakdown_.time(space_, phase);
  for (const Box<D>& box : boxes) {
    if (!is_empty(box)) sweep<Stencil>(space_, label, sweep_fields(), box, squared_change_sum);
  }
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::sweep_into_other(double* squared_change_sum) {
  if (edge_first_) return sweep_edge_first(squared_change_sum);
  // Counted from step 0 and not from a restart, so that sums over boxes are the same with and without one.
  const auto sweeps_since_exchange = static_cast<int>(step_ % options_.steps_per_exchange);
  const bool exchange_is_due = sweeps_since_exchange == 0;
  if (exchange_is_due && options_.overlap == Overlap::host) {
    ghosts_are_stale_ = false;
    sweep_around_exchange(squared_change_sum);
    return;
  }
  if (exchange_is_due || ghosts_are_stale_) {
    const auto timer = breakdown_.time(space_, exchange_);
    halo_->exchange(space_, field());
    ghosts_are_stale_ = false;
  }
  const Box<D> all = grid_.grown(own_, options_.steps_per_exchange - 1 - sweeps_since_exchange);
  if (squared_change_sum == nullptr) {
    sweep_boxes(interior_, "jacobi::interior", {all}, nullptr);
    return;
  }
  sweep_boxes(interior_, "jacobi::interior", {own_}, squared_change_sum);
  sweep_boxes(edge_, "jacobi::edge", without(all, own_), nullptr);
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::sweep_around_exchange(double* squared_change_sum) {
  const Box<D> inner = grid_.shrunk(own_, 1);
  const Box<D> all = grid_.grown(own_, options_.steps_per_exchange - 1);
  auto pending = [&] {
    const auto timer = breakdown_.time(space_, exchange_);
    return halo_->start(space_, field());
  }();
  sweep_boxes(interior_, "jacobi::interior", {inner}, squared_change_sum);
  {
    const auto timer = breakdown_.time(space_, exchange_);
    halo_->finish(space_, std::move(pending));
  }
  sweep_boxes(edge_, "jacobi::edge", without(own_, inner), squared_change_sum);
  sweep_boxes(edge_, "jacobi::edge", without(all, own_), nullptr);
}

template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::set_up_edge_first() {
  if (options_.steps_per_exchange != 1) {
    throw Error(ErrorKind::unsupported,
                "overlap in the kernel sends in every sweep: steps per exchange is 1 there");
  }
  HaloOptions<D> halo = detail::halo_options<D>(options_, Stencil::reads_corners);
  // Ghosts of a field are read in one sweep, and sweeps take strict turns.
  halo.ghost_reuse = GhostReuse::alternating;
  HaloExchange exchange(space_, grid_, halo, fields_[0], fields_[1]);
  const HaloPort port = exchange.device(space_, fields_[0], fields_[1]);
  edge_first_.emplace(std::move(exchange), port, EdgeFirstTiles<D, Space>(own_, grid_.shrunk(own_, 1)));
}

/// The ghosts of field() are there or on their way: the neighbours' sweep before sent them.
template <class Real, class Stencil, class Space>
void Solver<Real, Stencil, Space>::sweep_edge_first(double* squared_change_sum) {
  if (ghosts_are_stale_) {
    const auto timer = breakdown_.time(space_, exchange_);
    halo_->exchange(space_, field());
    ghosts_are_stale_ = false;
  }
  const auto timer = breakdown_.time(space_, interior_);
  jacobi::sweep_edge_first<Stencil>(space_, edge_first_->port, 1 - current_, edge_first_->tiles,
                                    sweep_fields(), squared_change_sum);
  if (squared_change_sum != nullptr) edge_first_->halo.check();
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
