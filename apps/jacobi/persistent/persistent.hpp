#pragma once

#include "jacobi/physics/problem.hpp"

#include <selvage/comm/grid.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::jacobi {

/// Sweeps of the 5-point stencil that one pass of the persistent kernel makes.
template <class Real>
[[nodiscard]] int persistent_steps_per_pass();

/// Why the persistent form can't run on this grid; empty when it can. The same on all ranks.
template <class Real>
[[nodiscard]] std::string refuse_persistent(const Grid<2>& grid);

/// The source's factors by row and by column. Rows from persistent_steps_per_pass() before the rank's first one to
/// as many behind its last one; columns of the grid. Empty without a source.
template <class Real>
struct PersistentSource {
  std::vector<Real> rows;
  std::vector<Real> columns;
};

/// The 5-point Jacobi iteration in a GPU kernel that keeps iterating (Selvage's own; in spirit of LeBeane's
/// intra-kernel triggers, thesis ch. 6).
///
/// One launch makes any number of sweeps. The slab of a rank is cut into tiles, one warp each, that wait only for
/// the tiles around them, and at the slab's two sides for the neighbouring rank. A pass over memory takes a tile
/// several sweeps further: its warp marches down the rows with two rows of each sweep in registers. Rows at the
/// sides are stored straight into the neighbours' ghosts, which are as many rows wide as a pass has sweeps.
///
/// What keeps ghosts from being overwritten while they are read: two fields alternate, and a tile begins a pass
/// only when all around it have finished the pass before.
template <class Real>
class PersistentSweeps {
 public:
  using Space = Kokkos::DefaultExecutionSpace;

  /// Collective. Kernels run on `space`.
  /// \throws Error{unsupported} where refuse_persistent() gives a reason
  PersistentSweeps(const Space& space, const Grid<2>& grid, const Problem<2>& problem,
                   const PersistentSource<Real>& source);
  PersistentSweeps(PersistentSweeps&&) noexcept;
  PersistentSweeps& operator=(PersistentSweeps&&) noexcept;
  ~PersistentSweeps();

  /// Takes this rank's cells from device memory and fills the ghosts. Collective.
  /// \param stride  elements from a row to the next
  void load(const Real* first_cell, std::ptrdiff_t stride);
  /// Copies this rank's cells to device memory. Waits. \throws Error{timeout} like try_sweep()
  void store(Real* first_cell, std::ptrdiff_t stride) const;

  /// Enqueues `sweeps` sweeps, in one launch. All ranks make the same calls.
  void advance(std::int64_t sweeps);
  /// Makes the next sweep without counting it, until accept(). Waits.
  /// \return the squared change, summed over this rank's cells
  /// \throws Error{timeout} for a neighbour that doesn't come; the message names it
  [[nodiscard]] double try_sweep();
  void accept();

  /// The newest cells, in device memory.
  [[nodiscard]] const Real* first_cell() const;
  [[nodiscard]] std::ptrdiff_t stride() const;

  /// How the slab is cut, and why.
  [[nodiscard]] std::string explain() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

extern template class PersistentSweeps<float>;
extern template class PersistentSweeps<double>;

}  // namespace selvage::jacobi
