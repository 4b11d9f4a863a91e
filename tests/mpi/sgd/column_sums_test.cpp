#include "sgd/model/column_sums.hpp"

#include <gtest/gtest.h>

namespace selvage::sgd {
namespace {

/// Small whole numbers, so that sums in any order are the same.
float element(std::int64_t row, int column) {
  return static_cast<float>((row * 7 + column * 3) % 11 - 5);
}

float passed_element(std::int64_t row, int column) {
  return static_cast<float>((row + column) % 3 - 1);
}

struct WantedSums {
  Space space = make_instance();
  Matrix<float> matrix;
  Matrix<float> passed;
  Vector<float> sums;

  WantedSums(std::int64_t rows, int columns)
      : matrix("matrix", rows, columns),
        passed("passed", rows, columns),
        sums("sums", static_cast<std::size_t>(columns)) {
    const auto filled = Kokkos::create_mirror_view(matrix);
    const auto filled_passed = Kokkos::create_mirror_view(passed);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        filled(row, column) = element(row, column);
        filled_passed(row, column) = passed_element(row, column);
      }
    }
    Kokkos::deep_copy(matrix, filled);
    Kokkos::deep_copy(passed, filled_passed);
  }

  /// \param counts  whether an element is in the sum
  void expect(bool (*counts)(std::int64_t, int)) const {
    space.fence();
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
    for (int column = 0; column < matrix.extent_int(1); ++column) {
      float wanted = 0;
      for (std::int64_t row = 0; row < matrix.extent_int(0); ++row)
        if (counts(row, column)) wanted += element(row, column);
      EXPECT_EQ(found(column), wanted) << matrix.extent(0) << " rows, column " << column;
    }
  }
};

bool is_any(std::int64_t /*row*/, int /*column*/) {
  return true;
}
bool is_passed(std::int64_t row, int column) {
  return passed_element(row, column) > 0;
}

void expect_sums(std::int64_t rows, int columns) {
  const WantedSums test(rows, columns);
  const ColumnSums sums(test.space, rows, columns);
  sums.add_up(test.matrix.data(), rows, test.sums.data());
  test.expect(is_any);
  sums.mask_and_add_up(test.matrix.data(), test.passed.data(), rows, test.sums.data());
  test.expect(is_passed);
  const auto masked = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), test.matrix);
  for (std::int64_t row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      ASSERT_EQ(masked(row, column), is_passed(row, column) ? element(row, column) : 0)
          << row << ' ' << column;
}
TEST(ColumnSums, AreExactForAnyShape) {
  for (const int columns : {1, 10, 32, 33, 100}) {
    for (const std::int64_t rows : {1, 31, 1024, 1025, 5000}) expect_sums(rows, columns);
  }
}

}  // namespace
}  // namespace selvage::sgd
