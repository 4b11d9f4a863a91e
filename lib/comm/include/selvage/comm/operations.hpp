#pragma once

#include <Kokkos_Macros.hpp>

namespace selvage {

/// Reductions for HaloExchange::reduce: `combined = operation(owned, contribution)`.
struct Sum {
  template <class T>
  KOKKOS_INLINE_FUNCTION constexpr T operator()(const T& owned, const T& contribution) const {
    return owned + contribution;
  }
};
/// Multiplies. \sa Sum
struct Product {
  template <class T>
  KOKKOS_INLINE_FUNCTION constexpr T operator()(const T& owned, const T& contribution) const {
    return owned * contribution;
  }
};
/// The smaller of the two; the owned value if they are equal, or if either is a NaN. \sa Sum
struct Min {
  template <class T>
  KOKKOS_INLINE_FUNCTION constexpr T operator()(const T& owned, const T& contribution) const {
    return contribution < owned ? contribution : owned;
  }
};
/// The larger of the two; the owned value if they are equal, or if either is a NaN. \sa Sum
struct Max {
  template <class T>
  KOKKOS_INLINE_FUNCTION constexpr T operator()(const T& owned, const T& contribution) const {
    return owned < contribution ? contribution : owned;
  }
};

}  // namespace selvage
