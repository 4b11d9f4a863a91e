#pragma once

#include "copy_runs.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace selvage::detail {

/// The words of a Datatype: a tree in prefix order.
///
///     element   bytes
///     repeat    count, stride, child
///     indexed   blocks, child's extent, (displacement, length) per block, child
///     structure members, (displacement, length, child's extent, child) per member
///
/// Bounds aren't part of it: whoever repeats a child says how far apart.
namespace type_code {
inline constexpr std::int64_t element = 0;
inline constexpr std::int64_t repeat = 1;
inline constexpr std::int64_t indexed = 2;
inline constexpr std::int64_t structure = 3;
}  // namespace type_code

/// Flattens a type once (Chu et al., "Convert IOV list to displacement list"): copies from where its elements
/// lie, as displacements, to where they lie packed, in the order of the type map. Neighbours are merged, and
/// equal blocks at equal distances are one run. Packed offsets ascend without gaps.
[[nodiscard]] std::vector<CopyRun> flatten(std::span<const std::int64_t> code);

}  // namespace selvage::detail
