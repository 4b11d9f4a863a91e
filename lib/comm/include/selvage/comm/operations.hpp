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
struct Product {
  template <class T>
  KOKKOS_INLINE_FUNCTION constexpr T operator()(const T& owned, const T& contribution) const {
    return owned * contribution;
  }
};
struct Min {
  template <class T>
  KOKKOS_INLINE_FUNCTION constexpr T operator()(const T& owned, const T& contribution) const {
    return contribution < owned ? contribution : owned;
  }
};
struct Max {
  template <class T>
  KOKKOS_INLINE_FUNCTION constexpr T operator()(const T& owned, const T& contribution) const {
    return owned < contribution ? contribution : owned;
  }
};

}  // namespace selvage
