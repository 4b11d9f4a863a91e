#pragma once

#include "sgd/model/space.hpp"
#include "sgd/sums/fixed_point.hpp"

#include <cstdint>

namespace selvage::sgd {

/// What steps say about themselves, kept in the space's memory so that the host looks at many of them at once: a row per
/// step, used again and again. Whole numbers, whose sums are the same in any order.
///
/// Which step is underway is counted there too, so that a step can be captured and replayed. Who begins one reads next()
/// and writes it to current(); what follows reads current(), and the loss writes next() = current() + 1.
struct StepFigures {
  enum Column { loss, correct, unusable_samples, unusable_layer, unusable_tensor, columns };

  Matrix<std::int64_t> rows;
  Vector<std::int64_t> steps;

  /// \param count  how many steps are kept
  explicit StepFigures(std::int64_t count)
      : rows("sgd: figures of steps", count, int{columns}), steps("sgd: step", 2) {}

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t& next() const { return steps(0); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t& current() const { return steps(1); }

  KOKKOS_INLINE_FUNCTION void add(Column column, std::int64_t value) const {
    Kokkos::atomic_add(&cell(column), value);
  }
  /// Notes that a layer's output, or a gradient, is NaN, infinite or too large. Of several, the first is kept.
  KOKKOS_INLINE_FUNCTION void mark(Column column, std::int64_t number) const {
    Kokkos::atomic_max(&cell(column), most_numbers - number);
  }
  /// \param found  what a row holds where something was marked
  [[nodiscard]] static std::int64_t number_marked(std::int64_t found) { return most_numbers - found; }

 private:
  static constexpr std::int64_t most_numbers = 1 << 20;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t& cell(Column column) const {
    return rows(current() % rows.extent_int(0), int{column});
  }
};

}  // namespace selvage::sgd
