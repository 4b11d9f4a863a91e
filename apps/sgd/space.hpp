#pragma once

#include <Kokkos_Core.hpp>

namespace selvage::sgd {

/// Where the training runs: with the matrix products of a BLAS, that is the host.
using Space = Kokkos::DefaultHostExecutionSpace;

template <class T>
using Vector = Kokkos::View<T*, Kokkos::LayoutRight, Space::memory_space>;
/// Row-major: a sample, or an output of a layer, per row.
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Space::memory_space>;

}  // namespace selvage::sgd
