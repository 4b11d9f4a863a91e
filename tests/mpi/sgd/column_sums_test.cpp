#include "sgd/column_sums.hpp"

#include <gtest/gtest.h>

namespace selvage::sgd {
namespace {

/// Small whole numbers, so that sums in any order are the same.
float element(std::int64_t row, int column) {
  return static_cast<float>((row * 7 + column * 3) % 11 - 5);
}

void expect_sums(std::int64_t rows, int columns) {
  const Space space = make_instance();
  const Matrix<float> matrix("matrix", rows, columns);
  const auto filled = Kokkos::create_mirror_view(matrix);
  std::vector<float> wanted(static_cast<std::size_t>(columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      filled(row, column) = element(row, column);
      wanted[static_cast<std::size_t>(column)] += element(row, column);
    }
  }
  Kokkos::deep_copy(matrix, filled);
  const Vector<float> sums("sums", static_cast<std::size_t>(columns));
  ColumnSums(space, rows, columns).add_up(matrix.data(), rows, sums.data());
  space.fence();
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  for (int column = 0; column < columns; ++column)
    EXPECT_EQ(found(column), wanted[static_cast<std::size_t>(column)]) << rows << " rows, column " << column;
}

TEST(ColumnSums, AreExactForAnyShape) {
  for (const int columns : {1, 10, 32, 33, 100}) {
    for (const std::int64_t rows : {1, 31, 1024, 1025, 5000}) expect_sums(rows, columns);
  }
}

}  // namespace
}  // namespace selvage::sgd
