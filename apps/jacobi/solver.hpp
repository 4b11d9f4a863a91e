#pragma once

#include "common/breakdown.hpp"
#include "jacobi/persistent/persistent.hpp"
#include "jacobi/physics/edge_first.hpp"
#include "jacobi/physics/problem.hpp"
#include "jacobi/physics/sweep.hpp"
#include "jacobi/physics/theory.hpp"
#include "jacobi/solver_options.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
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

}  // namespace selvage::jacobi

#include "jacobi/physics/cells.hpp"
#include "jacobi/step.hpp"
