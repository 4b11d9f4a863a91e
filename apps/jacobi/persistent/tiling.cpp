#include "jacobi/persistent/tiling.hpp"

#include <algorithm>
#include <cmath>

namespace selvage::jacobi {
namespace {

/// A row step of one warp takes a + b w, w being the warps of its multiprocessor: a is the latency of its chain of
/// additions, b its share of the issue slots. This is a / b, seen on an H200.
constexpr double latency_over_issue = 6.8;

/// w warps share `rows` rows of strips per multiprocessor and march rows / w + 2 steps rows each. The product with
/// a + b w is least here.
double best_warps(double rows, int steps) {
  return std::sqrt(latency_over_issue * rows / (2.0 * steps));
}

}  // namespace

Tiling choose_tiling(std::int64_t rows, std::int64_t columns, const TilingLimits& limits) {
  Tiling tiling;
  tiling.strips = static_cast<int>((columns + limits.strip_columns - 1) / limits.strip_columns);
  const int resident_blocks = limits.multiprocessors * limits.blocks_per_multiprocessor;
  const int resident_warps = resident_blocks * limits.warps_per_block;
  const double strip_rows = static_cast<double>(rows) * tiling.strips / limits.multiprocessors;
  const auto wanted =
      std::llround(best_warps(strip_rows, limits.steps) * limits.multiprocessors / tiling.strips);
  const std::int64_t most = std::min<std::int64_t>(resident_warps / tiling.strips, rows / limits.steps);
  tiling.chunks = static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>(wanted, most)));
  tiling.blocks =
      std::min((tiling.tiles() + limits.warps_per_block - 1) / limits.warps_per_block, resident_blocks);
  return tiling;
}

}  // namespace selvage::jacobi
