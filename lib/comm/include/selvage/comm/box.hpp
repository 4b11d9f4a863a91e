#pragma once

#include <selvage/error.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace selvage {

/// A half-open range of cells per axis, begin <= end; global or local as the holder says.
template <int D>
struct Box {
  std::array<std::int64_t, D> begin{};
  std::array<std::int64_t, D> end{};

  [[nodiscard]] std::int64_t extent(int axis) const { return end[axis] - begin[axis]; }
  [[nodiscard]] std::int64_t cells() const {
    std::int64_t product = 1;
    for (int axis = 0; axis < D; ++axis) product *= extent(axis);
    return product;
  }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Whether a box holds no cell; one that would end before it begins counts as empty.
template <int D>
[[nodiscard]] bool is_empty(const Box<D>& box) {
  for (int axis = 0; axis < D; ++axis) {
    if (box.extent(axis) <= 0) return true;
  }
  return false;
}

/// `outer` without `inner`, a part of it, as 2 D boxes at most that don't overlap, those across the slowest axis first
/// (longest rows). An empty `inner` leaves `outer` itself.
template <int D>
[[nodiscard]] std::vector<Box<D>> without(Box<D> outer, const Box<D>& inner) {
  if (is_empty(outer)) return {};
  if (is_empty(inner)) return {outer};
  std::vector<Box<D>> slabs;
  for (int axis = 0; axis < D; ++axis) {
    Box<D> low = outer;
    low.end[axis] = inner.begin[axis];
    Box<D> high = outer;
    high.begin[axis] = inner.end[axis];
    if (!is_empty(low)) slabs.push_back(low);
    if (!is_empty(high)) slabs.push_back(high);
    outer.begin[axis] = inner.begin[axis];
    outer.end[axis] = inner.end[axis];
  }
  return slabs;
}

namespace detail {

/// Ghost cells on the two sides of one axis.
struct Side {
  int low = 0;
  int high = 0;
  friend bool operator==(const Side&, const Side&) = default;
};

}  // namespace detail

/// Ghost cells per axis and side. Written as `1` (everywhere) or `{{1, 1}, {2, 0}}` (low and high per axis).
template <int D>
class Width {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): `.width = 1` is how people say it
  Width(int everywhere) { sides_.fill({everywhere, everywhere}); }

  /// \throws Error{usage} unless there is one pair per axis
  Width(std::initializer_list<detail::Side> sides) {
    if (sides.size() != D) {
      throw Error(ErrorKind::usage,
                  "a width of " + std::to_string(sides.size()) + " sides for " + std::to_string(D) + " axes");
    }
    int axis = 0;
    for (const detail::Side& side : sides) sides_[axis++] = side;
  }

  [[nodiscard]] const detail::Side& operator[](int axis) const { return sides_[axis]; }
  [[nodiscard]] detail::Side& operator[](int axis) { return sides_[axis]; }
  friend bool operator==(const Width&, const Width&) = default;

 private:
  std::array<detail::Side, D> sides_{};
};

}  // namespace selvage
