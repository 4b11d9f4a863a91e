#pragma once

#include "../support/figure.hpp"

#include <selvage/comm/context.hpp>

#include <cstdint>

namespace selvage::bench {

/// Weak scaling of the 3D 7-point iteration in fp64, n^3 cells per rank, ranks in a row along the slowest axis: the
/// time of an iteration alone on one rank's device, over the time of one on all, in turns in one run: "scaling, %" of what jacobi
/// chooses. All forms (overlap off, host or kernel) are compared bit by bit.
[[nodiscard]] Figure weak_scaling_figure(const Context& context, std::int64_t n);

}  // namespace selvage::bench
