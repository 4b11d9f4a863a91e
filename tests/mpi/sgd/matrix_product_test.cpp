#include "sgd/model/matrix_product.hpp"

#include "expect_error.hpp"
#include "sgd/step_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace selvage::sgd {
namespace {

std::vector<float> numbers(int count, int first) {
  std::vector<float> values;
  // Whole numbers, so that sums in any order are the same; of more digits than TF32 has.
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>((first + i * 7) % 11 * 821 - 4097));
  return values;
}

Vector<float> placed(const std::vector<float>& values) {
  const Vector<float> there("values", values.size());
  const auto here = Kokkos::create_mirror_view(there);
  std::copy(values.begin(), values.end(), here.data());
  Kokkos::deep_copy(there, here);
  return there;
}

double element(const std::vector<float>& values, const Factor& factor, int row, int column) {
  if (factor.form == Form::transposed) std::swap(row, column);
  return values[static_cast<std::size_t>(row * factor.columns + column)];
}

struct Product {
  std::vector<float> left = numbers(15, 1);
  std::vector<float> right = numbers(20, 3);
  Vector<float> left_there = placed(left);
  Vector<float> right_there = placed(right);

  void expect(Form turn_left, Form turn_right, ProductChoice choice) const {
    const Space space = make_instance();
    const MatrixProducts products(space, choice);
    const Factor a{left_there.data(), turn_left == Form::as_is ? 3 : 5, turn_left == Form::as_is ? 5 : 3,
                   turn_left};
    const Factor b{right_there.data(), turn_right == Form::as_is ? 5 : 4, turn_right == Form::as_is ? 4 : 5,
                   turn_right};
    const Vector<float> result = placed(std::vector<float>(13, 99));
    products.multiply(a, b, result.data());
    space.fence();
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), result);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 4; ++j) {
        double sum = 0;
        for (int k = 0; k < 5; ++k) sum += element(left, a, i, k) * element(right, b, k, j);
        // fp32 rounds sums of this size to multiples of 16; TF32 would be off by thousands.
        EXPECT_NEAR(found(i * 4 + j), sum, 64) << i << ' ' << j;
      }
    }
    EXPECT_EQ(found(12), 99);
  }
};

TEST(MatrixProduct, IsTheSumOverTheSharedSideInEveryForm) {
  const Product product;
  for (const Form left : {Form::as_is, Form::transposed}) {
    for (const Form right : {Form::as_is, Form::transposed}) {
      product.expect(left, right, ProductChoice::fixed);
      product.expect(left, right, ProductChoice::timed);
    }
  }
}

/// Of some columns of the first factor, which begin at `place`: not every algorithm takes every alignment.
void expect_columns_of_errors(ProductChoice choice, int place) {
  constexpr int rows = 64;
  constexpr int width = 40;
  constexpr int columns = 16;
  const std::vector<float> left = numbers(rows * width, 5);
  const std::vector<float> right = numbers(rows * columns, 2);
  const Vector<float> left_there = placed(left);
  const Vector<float> right_there = placed(right);
  const Vector<float> result("result", static_cast<std::size_t>(width * columns));
  const Space space = make_instance();
  const MatrixProducts products(space, choice);
  const Factor a{left_there.data() + place, rows, width - place, Form::transposed, width};
  const Factor b{right_there.data(), rows, columns};
  const auto multiply = [&] { products.multiply(a, b, result.data()); };
  multiply();
  // As a captured step meets it again.
  const auto again = capture_step(space, multiply);
  Kokkos::deep_copy(space, result, 0);
  if (on_host) {
    multiply();
  } else {
    again();
  }
  space.fence();
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), result);
  for (int i = 0; i < width - place; ++i) {
    for (int j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < rows; ++k)
        sum += double{left[static_cast<std::size_t>(k * width + place + i)]} *
               right[static_cast<std::size_t>(k * columns + j)];
      EXPECT_NEAR(found(static_cast<std::size_t>(i * columns + j)), sum, 2048)
          << place << ' ' << i << ' ' << j;
    }
  }
}

TEST(MatrixProduct, TakesColumnsFromAnyPlaceAndIsCaptured) {
  for (const ProductChoice choice : {ProductChoice::fixed, ProductChoice::timed}) {
    for (const int place : {0, 1, 2, 4}) expect_columns_of_errors(choice, place);
  }
}

void multiply_misfits() {
  const std::vector<float> values(6);
  MatrixProducts(make_instance()).multiply({values.data(), 3, 2}, {values.data(), 3, 2}, nullptr);
}

TEST(MatrixProduct, FactorsThatDontFitAreRefused) {
  const std::string message = app::testing_support::error_message(ErrorKind::usage, multiply_misfits);
  EXPECT_NE(message.find("3 x 2 and a 3 x 2"), std::string::npos) << message;
}

}  // namespace
}  // namespace selvage::sgd
