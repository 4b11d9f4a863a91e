#pragma once

#include <selvage/topo/traffic.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace selvage::topo {

/// Traffic that a name describes, with the process grid behind it.
struct Pattern {
  std::string name;
  Traffic traffic;
  std::vector<int> grid;  ///< of the device pattern where there are two
};

/// The pattern of a name: KIND-DIMS[-OPTION]..., such as "3d-8x8x8-wrap-weighted".
///
/// Kinds: `2d` and `3d`, stencils of 5 and 7 points with 64 KB per face; `coll`, an all-to-all of 64 KB per pair in
/// each group of ranks along the first dimension; `md`, halos of 27 neighbours between domains of uneven widths,
/// periodic. Options of stencils: `wrap` (periodic), `weighted` (3 times as much along the first dimension), `corners`
/// (edges and corners of boxes of 64 cells per side, 8 bytes each, one cell wide). Two patterns joined by "+" run at
/// once, the first one in host memory; alone, a pattern is in device memory.
/// \throws Error{input} for a name that isn't one, or two patterns of different sizes
[[nodiscard]] Pattern pattern_named(std::string_view name);

/// Whole numbers joined by "x": "8x8x4". \param what  what errors call it. \throws Error{input}
[[nodiscard]] std::vector<int> parse_dims(std::string_view text, std::string_view what);

}  // namespace selvage::topo
