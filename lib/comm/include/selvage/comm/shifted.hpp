#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace selvage {

namespace detail {

/// A rank-2 View whose ghosts are images: the sender adds a vector to each entry it sends.
template <class View, class Vectors, class Which>
struct ShiftedView {
  View view;
  Vectors vectors;
  Which which;
};

/// Row i of the shifts is that of entry i.
struct RowOfEntry {
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t entry) const { return entry; }
  [[nodiscard]] static std::int64_t extent(int) { return 0; }
};

}  // namespace detail

/// For gather(): ghosts of `view` are images of what they are ghosts of, moved by a vector that the sender adds.
///
/// \param view     rank 2 of floating-point numbers, [particle, component]
/// \param vectors  rank 2, [row, component], as many components
/// \param which    rank 1 of integers, by place in the caller's list: the row for that entry. Rows may change
///                 between rebuilds, for a box that changes its shape.
/// Both lie where the execution space reaches them.
template <class View, class Vectors, class Which>
[[nodiscard]] detail::ShiftedView<View, Vectors, Which> shifted(const View& view, const Vectors& vectors,
                                                                const Which& which) {
  return {view, vectors, which};
}
/// The same with a vector per place in the caller's list.
template <class View, class Vectors>
[[nodiscard]] detail::ShiftedView<View, Vectors, detail::RowOfEntry> shifted(const View& view,
                                                                             const Vectors& vectors) {
  return {view, vectors, {}};
}

}  // namespace selvage
