#include "sgd/matrix_product.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace selvage::sgd {
namespace {

std::vector<float> numbers(int count, int first) {
  std::vector<float> values;
  // Small whole numbers, so that sums in any order are the same.
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>((first + i * 7) % 11 - 5));
  return values;
}

float element(const Factor& factor, int row, int column) {
  if (factor.form == Form::transposed) std::swap(row, column);
  return factor.data[row * factor.columns + column];
}

TEST(MatrixProduct, IsTheSumOverTheSharedSideInEveryForm) {
  const std::vector<float> left = numbers(15, 1);
  const std::vector<float> right = numbers(20, 3);
  for (const bool turn_left : {false, true}) {
    for (const bool turn_right : {false, true}) {
      const Factor a = turn_left ? Factor{left.data(), 5, 3, Form::transposed} : Factor{left.data(), 3, 5};
      const Factor b = turn_right ? Factor{right.data(), 4, 5, Form::transposed} : Factor{right.data(), 5, 4};
      std::vector<float> result(13, 99);
      multiply(a, b, result.data());
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
          float sum = 0;
          for (int k = 0; k < 5; ++k) sum += element(a, i, k) * element(b, k, j);
          EXPECT_EQ(result[static_cast<std::size_t>(i * 4 + j)], sum) << turn_left << turn_right;
        }
      }
      EXPECT_EQ(result[12], 99);
    }
  }
}

TEST(MatrixProduct, FactorsThatDontFitAreRefused) {
  const std::vector<float> values(6);
  std::vector<float> result(9);
  const std::string message = app::testing_support::error_message(ErrorKind::usage, [&] {
    multiply({values.data(), 3, 2}, {values.data(), 3, 2}, result.data());
  });
  EXPECT_NE(message.find("3 x 2 and a 3 x 2"), std::string::npos) << message;
}

}  // namespace
}  // namespace selvage::sgd
