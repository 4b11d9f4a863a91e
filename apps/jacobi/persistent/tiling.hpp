#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace selvage::jacobi {

/// What one warp works on in one pass of the persistent kernel: a strip of columns, down which it marches row by
/// row with the last two rows of every step in registers.
template <class Real>
struct MarchShape {
  static constexpr int warp_threads = 32;
  static constexpr int warps_per_block = 4;
  static constexpr int cells_per_thread = 16 / sizeof(Real);  ///< of a row: one access
  /// Per pass over memory. Measured: more steps need registers that leave too few warps, fewer are bound by
  /// memory.
  static constexpr int steps = sizeof(Real) == 4 ? 8 : 4;
  /// Columns at each end of a strip that are computed in vain: one is lost per step.
  static constexpr int halo_columns = steps;
  static constexpr int strip_columns = warp_threads * cells_per_thread - 2 * halo_columns;
  /// Columns before the first one, so that strips lie on 32-byte sectors.
  static constexpr int lead_columns = 32;
  /// Rows on their way from memory to each warp.
  static constexpr int ring_rows = 8;
  static_assert(halo_columns % cells_per_thread == 0 && halo_columns <= lead_columns);
};

/// How a rank's rows are cut into tiles, one warp each: strips of columns times chunks of rows.
struct Tiling {
  int strips = 0;
  int chunks = 0;
  int blocks = 0;  ///< all of them resident at once

  [[nodiscard]] KOKKOS_FUNCTION int tiles() const { return strips * chunks; }
};

/// What a tiling has to fit.
struct TilingLimits {
  int multiprocessors = 0;
  int blocks_per_multiprocessor = 0;  ///< resident, by the occupancy of the kernel
  int warps_per_block = 0;
  int steps = 0;  ///< per pass; no chunk is lower
  int strip_columns = 0;
};

/// Cuts `rows` x `columns` cells. Each chunk is marched with `steps` more rows on both sides, so many low chunks
/// cost work and few high ones leave multiprocessors waiting; the number between follows from both costs.
[[nodiscard]] Tiling choose_tiling(std::int64_t rows, std::int64_t columns, const TilingLimits& limits);

}  // namespace selvage::jacobi
