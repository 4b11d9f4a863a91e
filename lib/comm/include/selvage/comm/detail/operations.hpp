#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Macros.hpp>

#include <string>

namespace selvage::detail {

/// What ReduceOperation means for two values: `combined = operation(owned, contribution)`.
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

/// Calls `work` with what combines two values of type T.
/// \throws Error{usage} for an operation that halos, or values of this type, don't have
template <class T, class Work>
void with_operation(ReduceOperation operation, const Work& work) {
  constexpr bool has_order = requires(const T& a, const T& b) {
    a < b;
  };
  switch (operation) {
    case ReduceOperation::sum:
      return work(Sum{});
    case ReduceOperation::product:
      return work(Product{});
    case ReduceOperation::min:
      if constexpr (has_order) return work(Min{});
      break;
    case ReduceOperation::max:
      if constexpr (has_order) return work(Max{});
      break;
    case ReduceOperation::average:
      break;
  }
  throw Error(ErrorKind::usage, "halos of such values are reduced by " +
                                    std::string(has_order ? "sum, product, min or max" : "sum or product") +
                                    ", not by " + std::string(to_string(operation)));
}

}  // namespace selvage::detail
