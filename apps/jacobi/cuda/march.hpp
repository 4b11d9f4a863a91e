#pragma once

#include "jacobi/persistent/program.hpp"
#include "jacobi/physics/stencil.hpp"

#include <cstdint>

namespace selvage::jacobi::cuda {

/// The cells of one thread in a row, moved in one 16-byte access.
template <class Real>
struct alignas(16) Pack {
  static constexpr int size = MarchShape<Real>::cells_per_thread;
  Real cell[size];
};

/// Past the first-level cache, which doesn't see what other multiprocessors store during the launch.
template <class Real>
__device__ __forceinline__ void store_pack(Real* to, const Pack<Real>& pack) {
  __stcg(reinterpret_cast<float4*>(to), *reinterpret_cast<const float4*>(&pack));
}

/// Rows on their way into this warp's shared memory. Each thread copies, awaits and reads its own 16 bytes of a
/// row, so that no barrier is needed.
template <class Real>
class RowRing {
 public:
  static constexpr int depth = MarchShape<Real>::ring_rows;

  __device__ __forceinline__ RowRing(Pack<Real>* slots, const Real* first, std::int64_t pitch, int rows)
      : slots_(slots), next_(first), pitch_(pitch), left_(rows) {
#pragma unroll
    for (int row = 0; row < depth - 1; ++row) fetch(row);
  }

  /// The next row; past the last one, what the slot held before.
  __device__ __forceinline__ Pack<Real> take() {
    asm volatile("cp.async.wait_group %0;" ::"n"(depth - 2) : "memory");
    const Pack<Real> row = slots_[slot_ * MarchShape<Real>::warp_threads];
    // Into the slot that the step before has read and used.
    fetch((slot_ + depth - 1) % depth);
    slot_ = (slot_ + 1) % depth;
    return row;
  }

 private:
  __device__ __forceinline__ void fetch(int slot) {
    if (left_ > 0) {
      const auto to =
          static_cast<unsigned>(__cvta_generic_to_shared(slots_ + slot * MarchShape<Real>::warp_threads));
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(next_) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    next_ += pitch_;
    --left_;
  }

  Pack<Real>* slots_;
  const Real* next_;
  std::int64_t pitch_;
  int left_;
  int slot_ = 0;
};

/// What a tile meets besides cells that are all computed alike.
enum class Border {
  none,
  columns,  ///< cells beyond a side in x, which keep their values
  rows      ///< and rows beyond a fixed side in y
};

/// The rows of a tile and the columns of this thread.
struct Tile {
  int strip;
  int chunk;
  int first_row;
  int end_row;
  int column;  ///< of this thread's first cell
  Border border;
};

/// The last two rows of each level of one pass, level t being the field after t steps.
template <class Real, int steps, Border border, bool has_source>
class Levels {
 public:
  __device__ __forceinline__ Levels(const PersistentProgram<Real>& program, const Tile& tile)
      : source_y_(program.source_y),
        first_free_row_(program.beyond_low[0] == nullptr ? 0 : -MarchShape<Real>::steps),
        end_free_row_(program.rows + (program.beyond_high[0] == nullptr ? 0 : MarchShape<Real>::steps)) {
#pragma unroll
    for (int i = 0; i < Pack<Real>::size; ++i) {
      is_free_[i] = tile.column + i >= 0 && tile.column + i < program.columns;
      if constexpr (has_source) source_x_[i] = is_free_[i] ? program.source_x[tile.column + i] : Real(0);
    }
  }

  /// Takes row y of level 0. \return row y - steps of the last level
  __device__ __forceinline__ Pack<Real> push_even(const Pack<Real>& row, int y) {
    return push(row, a_, b_, y);
  }
  __device__ __forceinline__ Pack<Real> push_odd(const Pack<Real>& row, int y) {
    return push(row, b_, a_, y);
  }
  /// Before push_even(): the newest row of level 0; before push_odd() likewise.
  __device__ __forceinline__ const Pack<Real>& newest_even() const {
    return b_[0];
  }
  __device__ __forceinline__ const Pack<Real>& newest_odd() const {
    return a_[0];
  }
  __device__ __forceinline__ bool is_free(int i) const {
    return is_free_[i];
  }

 private:
  using Rows = Pack<Real>[steps];

  /// The newest row takes the place of the oldest, so that older and newer change roles and nothing is moved.
  __device__ __forceinline__ Pack<Real> push(Pack<Real> row, Rows& older, Rows& newer, int y) {
#pragma unroll
    for (int level = 0; level < steps; ++level) {
      const Pack<Real> next = relax_row(row, older[level], newer[level], y - 1 - level);
      older[level] = row;
      row = next;
    }
    return row;
  }

  /// Row y of the next level from rows y + 1, y - 1 and y.
  __device__ __forceinline__ Pack<Real> relax_row(const Pack<Real>& above, const Pack<Real>& below,
                                                  const Pack<Real>& here, int y) const {
    constexpr int last = Pack<Real>::size - 1;
    constexpr unsigned all_lanes = ~0U;
    const Real west = __shfl_up_sync(all_lanes, here.cell[last], 1);
    const Real east = __shfl_down_sync(all_lanes, here.cell[0], 1);
    const bool row_is_free = border != Border::rows || (y >= first_free_row_ && y < end_free_row_);
    Real source_factor = 0;
    if constexpr (has_source) source_factor = row_is_free ? source_y_[y] : Real(0);
    Pack<Real> next;
#pragma unroll
    for (int i = 0; i <= last; ++i) {
      Real sum = FivePoint::combine(i == last ? east : here.cell[i + 1], i == 0 ? west : here.cell[i - 1],
                                    above.cell[i], below.cell[i]);
      if constexpr (has_source) sum += source_factor * source_x_[i];
      const Real value = static_cast<Real>(FivePoint::weight) * sum;
      const bool changes = border == Border::none || (is_free_[i] && row_is_free);
      next.cell[i] = changes ? value : here.cell[i];
    }
    return next;
  }

  Rows a_{};
  Rows b_{};
  bool is_free_[Pack<Real>::size];
  Real source_x_[Pack<Real>::size];
  const Real* source_y_;
  int first_free_row_;
  int end_free_row_;
};

/// Where a tile's rows go: this rank's field, and the ghosts of the neighbours that read them.
template <class Real>
class RowSink {
 public:
  __device__ __forceinline__ RowSink(const PersistentProgram<Real>& program, const Tile& tile, int field)
      : pitch_(program.pitch), rows_(program.rows) {
    using Shape = MarchShape<Real>;
    const int lane = static_cast<int>(threadIdx.x) % Shape::warp_threads;
    constexpr int vain_lanes = Shape::halo_columns / Shape::cells_per_thread;
    // The strip's own columns; all of them, so that strips have as many cells to count.
    stores_ = lane >= vain_lanes && lane < Shape::warp_threads - vain_lanes;
    const std::int64_t offset = tile.first_row * program.pitch + tile.column;
    Real* const low = field == 0 ? program.beyond_low[0] : program.beyond_low[1];
    Real* const high = field == 0 ? program.beyond_high[0] : program.beyond_high[1];
    here_ = (field == 0 ? program.origin[0] : program.origin[1]) + offset;
    low_ = low != nullptr && tile.chunk == 0 ? low + offset : nullptr;
    high_ = high != nullptr && tile.chunk == program.tiling.chunks - 1 ? high + offset : nullptr;
  }

  __device__ __forceinline__ bool stores() const { return stores_; }

  /// Rows come in order.
  __device__ __forceinline__ void put(const Pack<Real>& pack, int y) {
    if (stores_) {
      store_pack(here_, pack);
      if (low_ != nullptr && y < MarchShape<Real>::steps) store_pack(low_, pack);
      if (high_ != nullptr && y >= rows_ - MarchShape<Real>::steps) store_pack(high_, pack);
    }
    here_ += pitch_;
    if (low_ != nullptr) low_ += pitch_;
    if (high_ != nullptr) high_ += pitch_;
  }

 private:
  Real* here_;
  Real* low_;
  Real* high_;
  std::int64_t pitch_;
  int rows_;
  bool stores_;
};

/// Sum of squared changes of the last pushed row's cells from `before`.
template <class Real, class LevelsOf>
__device__ __forceinline__ double squared_change(const LevelsOf& levels, const Pack<Real>& before,
                                                 const Pack<Real>& after) {
  double sum = 0;
#pragma unroll
  for (int i = 0; i < Pack<Real>::size; ++i) {
    const double change = static_cast<double>(after.cell[i]) - static_cast<double>(before.cell[i]);
    if (levels.is_free(i)) sum += change * change;
  }
  return sum;
}

/// Takes a tile `steps` steps further. The rows of level 0 come once from memory; each brings every level one row
/// on, the last of which goes to memory. Steps lose a row and a column at each end of what they read, so a tile
/// reads `steps` more on every side than it stores.
/// \param field  to be written; the other one is read
/// \return this thread's squared change, for one step
template <class Real, int steps, Border border, bool has_source>
__device__ __forceinline__ double march(const PersistentProgram<Real>& program, const Tile& tile, int field,
                                        Pack<Real>* ring_slots) {
  const int begin = tile.first_row - steps;
  const int end = tile.end_row + steps;
  const Real* const from = field == 0 ? program.origin[1] : program.origin[0];
  RowRing<Real> ring(ring_slots, from + begin * program.pitch + tile.column, program.pitch, end - begin);
  Levels<Real, steps, border, has_source> levels(program, tile);
  RowSink<Real> sink(program, tile, field);
  double change = 0;
  const auto settle = [&](const Pack<Real>& before, const Pack<Real>& row, int y) {
    if (y < tile.first_row || y >= tile.end_row) return;
    sink.put(row, y);
    if (steps == 1 && sink.stores()) change += squared_change(levels, before, row);
  };
  for (int y = begin; y < end; y += 2) {
    const Pack<Real> before_even = levels.newest_even();
    settle(before_even, levels.push_even(ring.take(), y), y - steps);
    const Pack<Real> before_odd = levels.newest_odd();
    settle(before_odd, levels.push_odd(ring.take(), y + 1), y + 1 - steps);
  }
  return change;
}

}  // namespace selvage::jacobi::cuda
