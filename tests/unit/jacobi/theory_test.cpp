#include "jacobi/physics/theory.hpp"

#include "jacobi/physics/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace selvage::jacobi {
namespace {

/// Applies the stencil to the mode in one cell and divides by the mode there: lambda, straight from its
/// definition.
template <class Stencil>
double measured_lambda(const Problem<Stencil::dimensions>& problem) {
  constexpr int D = Stencil::dimensions;
  std::array<std::vector<double>, D> modes;
  for (int axis = 0; axis < D; ++axis) modes[axis] = problem.mode(axis, -1, problem.cells[axis] + 1);
  const auto place = [&](int axis) { return static_cast<std::size_t>(problem.cells[axis] / 3); };
  std::vector<double> block;
  for (std::size_t z = 0; z < (D == 3 ? 3 : 1); ++z) {
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t x = 0; x < 3; ++x) {
        double g = modes[D - 2][place(D - 2) + y] * modes[D - 1][place(D - 1) + x];
        if constexpr (D == 3) g *= modes[0][place(0) + z];
        block.push_back(g);
      }
    }
  }
  Strides<D> stride{};
  stride.y = 3;
  if constexpr (D == 3) stride.z = 9;
  const double* const centre = block.data() + block.size() / 2;
  return Stencil::weight * Stencil::sum(centre, stride) / *centre;
}

template <class Stencil>
void expect_lambda(const std::array<std::int64_t, Stencil::dimensions>& cells,
                   const std::array<bool, Stencil::dimensions>& periodic) {
  const Problem<Stencil::dimensions> problem{.name = Case::dirichlet, .cells = cells, .periodic = periodic};
  EXPECT_NEAR(theory_of<Stencil>(cells, periodic, 1).lambda(), measured_lambda<Stencil>(problem), 1e-14);
}

TEST(Theory, LambdaIsWhatTheStencilDoesToTheMode) {
  expect_lambda<FivePoint>({63, 63}, {false, false});
  expect_lambda<FivePoint>({20, 31}, {true, false});
  expect_lambda<NinePoint>({63, 63}, {false, false});
  expect_lambda<NinePoint>({20, 31}, {false, true});
  expect_lambda<SevenPoint>({15, 17, 20}, {false, false, true});
  expect_lambda<TwentySevenPoint>({15, 15, 15}, {false, false, false});
  expect_lambda<TwentySevenPoint>({12, 17, 20}, {true, true, false});
}

TEST(Theory, KnownValuesForSixtyThreeCells) {
  const auto theory = theory_of<FivePoint>({63, 63}, {false, false}, 1);
  const double h = 1.0 / 64;
  EXPECT_NEAR(theory.lambda(), 0.9987954562, 5e-11);
  EXPECT_NEAR(theory.lambda(), std::cos(std::numbers::pi * h), 1e-15);
  const double sine = std::sin(std::numbers::pi * h / 2);
  EXPECT_NEAR(theory.discrete_amplitude, 2 * std::pow(std::numbers::pi * h, 2) / (8 * sine * sine), 1e-14);
}

TEST(Theory, NineAndTwentySevenPointFormulas) {
  const double c = std::cos(std::numbers::pi / 64);
  EXPECT_NEAR(theory_of<NinePoint>({63, 63}, {false, false}, 1).lambda(), (16 * c + 4 * c * c) / 20, 1e-15);
  EXPECT_NEAR(theory_of<TwentySevenPoint>({63, 63, 63}, {false, false, false}, 1).lambda(),
              (std::pow(1 + 2 * c, 3) - 1) / 26, 1e-15);
}

TEST(Theory, TheGapKeepsItsDigitsOnLargeGrids) {
  const auto theory = theory_of<FivePoint>({1'000'000, 1'000'000}, {false, false}, 1);
  const double angle = std::numbers::pi / 1'000'001;
  EXPECT_NEAR(theory.gap / (angle * angle / 2), 1, 1e-11);
}

template <class Stencil>
double miss(std::int64_t n) {
  std::array<std::int64_t, Stencil::dimensions> cells;
  cells.fill(n);
  return theory_of<Stencil>(cells, {}, 3).discrete_amplitude - 3;
}

TEST(Theory, DiscreteSolutionsConvergeToTheExactOneWithSecondOrder) {
  EXPECT_NEAR(miss<FivePoint>(31) / miss<FivePoint>(63), 4, 0.01);
  EXPECT_NEAR(miss<SevenPoint>(31) / miss<SevenPoint>(63), 4, 0.01);
  EXPECT_NEAR(miss<NinePoint>(31) / miss<NinePoint>(63), 4, 0.02);
  EXPECT_NEAR(miss<TwentySevenPoint>(31) / miss<TwentySevenPoint>(63), 4, 0.03);
}

TEST(Theory, ErrorIsAPowerAndResidualItsChange) {
  const auto theory = theory_of<FivePoint>({15, 15}, {false, false}, 2);
  EXPECT_DOUBLE_EQ(theory.error(0), 1);
  EXPECT_NEAR(theory.error(50), std::pow(theory.lambda(), 50), 1e-14);
  const double change = (theory.error(7) - theory.error(8)) * theory.discrete_amplitude;
  EXPECT_NEAR(theory.residual(7), change * std::sqrt(theory.squared_norm), 1e-13);
}

}  // namespace
}  // namespace selvage::jacobi
