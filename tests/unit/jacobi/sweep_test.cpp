#include "jacobi/physics/sweep.hpp"

#include "jacobi/verify/reference.hpp"

#include <selvage/comm/box.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace selvage::jacobi {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;

/// Two fields with one layer of ghosts, the first one filled with values that rounding notices.
template <class Real, class Stencil>
struct Fields {
  static constexpr int D = Stencil::dimensions;
  std::array<std::int64_t, D> cells;
  Kokkos::View<Real*, Kokkos::HostSpace> from;
  Kokkos::View<Real*, Kokkos::HostSpace> to;
  std::array<Kokkos::View<Real*, Kokkos::HostSpace>, D> source;

  explicit Fields(const std::array<std::int64_t, D>& n) : cells(n) {
    std::size_t count = 1;
    for (const auto extent : n) count *= static_cast<std::size_t>(extent + 2);
    from = decltype(from)("from", count);
    to = decltype(to)("to", count);
    for (std::size_t i = 0; i < count; ++i)
      from(i) = static_cast<Real>(std::sin(static_cast<double>(i * i % 1013)));
    for (int axis = 0; axis < D; ++axis) {
      source[axis] = Kokkos::View<Real*, Kokkos::HostSpace>("source", static_cast<std::size_t>(n[axis] + 2));
      for (std::size_t i = 0; i < source[axis].size(); ++i) {
        source[axis](i) = static_cast<Real>(std::cos(static_cast<double>(i) + axis));
      }
    }
  }

  [[nodiscard]] SweepFields<Real, D> sweep_fields(bool with_source) const {
    SweepFields<Real, D> fields{from.data(), to.data(), {}, {}};
    fields.stride.y = cells[D - 1] + 2;
    if constexpr (D == 3) fields.stride.z = fields.stride.y * (cells[1] + 2);
    for (int axis = 0; axis < D; ++axis)
      fields.source.axis[axis] = with_source ? source[axis].data() : nullptr;
    return fields;
  }

  [[nodiscard]] Box<D> box() const {
    Box<D> all;
    for (int axis = 0; axis < D; ++axis) {
      all.begin[axis] = 1;
      all.end[axis] = cells[axis] + 1;
    }
    return all;
  }

  /// From a cell to the next one along all axes.
  [[nodiscard]] std::size_t diagonal() const {
    const auto stride = sweep_fields(false).stride;
    if constexpr (D == 2) return static_cast<std::size_t>(stride.y + 1);
    if constexpr (D == 3) return static_cast<std::size_t>(stride.z + stride.y + 1);
  }

  [[nodiscard]] std::vector<Real> result() const { return {to.data(), to.data() + to.size()}; }
};

template <class T>
class Sweep : public testing::Test {};

template <class R, class S>
struct Config {
  using Real = R;
  using Stencil = S;
  static std::array<std::int64_t, S::dimensions> cells() {
    // A row longer than the 27-point kernel's block of x, and not a multiple of any vector length.
    if constexpr (S::dimensions == 2) {
      return {9, 1031};
    } else {
      return {5, 4, 1031};
    }
  }
};

using Configs =
    testing::Types<Config<float, FivePoint>, Config<double, FivePoint>, Config<float, NinePoint>,
                   Config<double, NinePoint>, Config<float, SevenPoint>, Config<double, SevenPoint>,
                   Config<float, TwentySevenPoint>, Config<double, TwentySevenPoint>>;

class ConfigNames {
 public:
  template <class T>
  static std::string GetName(int) {
    return std::to_string(T::Stencil::points) + (sizeof(typename T::Real) == 4 ? "fp32" : "fp64");
  }
};

TYPED_TEST_SUITE(Sweep, Configs, ConfigNames);

TYPED_TEST(Sweep, KeepsAConstantField) {
  using Real = typename TypeParam::Real;
  using Stencil = typename TypeParam::Stencil;
  const Fields<Real, Stencil> fields(TypeParam::cells());
  Kokkos::deep_copy(fields.from, Real(3));
  double change = 0;
  sweep<Stencil>(Space{}, "test", fields.sweep_fields(false), fields.box(), &change);
  EXPECT_NEAR(change, 0, 1e-10);
  const std::size_t last_cell = fields.to.size() - 1 - fields.diagonal();
  EXPECT_NEAR(fields.to(last_cell), Real(3), 1e-6);
}

TYPED_TEST(Sweep, BoxesGiveTheSameBitsAsTheWhole) {
  using Real = typename TypeParam::Real;
  using Stencil = typename TypeParam::Stencil;
  for (const bool with_source : {false, true}) {
    const Fields<Real, Stencil> fields(TypeParam::cells());
    sweep<Stencil>(Space{}, "test", fields.sweep_fields(with_source), fields.box());
    const auto whole = fields.result();
    Kokkos::deep_copy(fields.to, Real(0));
    auto inner = fields.box();
    for (int axis = 0; axis < Stencil::dimensions; ++axis) {
      inner.begin[axis] += 1;
      inner.end[axis] -= 2;
    }
    sweep<Stencil>(Space{}, "test", fields.sweep_fields(with_source), inner);
    for (const auto& edge : without(fields.box(), inner)) {
      sweep<Stencil>(Space{}, "test", fields.sweep_fields(with_source), edge);
    }
    EXPECT_EQ(fields.result(), whole);
  }
}

TYPED_TEST(Sweep, WritesOnlyItsBox) {
  using Real = typename TypeParam::Real;
  using Stencil = typename TypeParam::Stencil;
  const Fields<Real, Stencil> fields(TypeParam::cells());
  Kokkos::deep_copy(fields.to, Real(-77));
  sweep<Stencil>(Space{}, "test", fields.sweep_fields(true), fields.box());
  std::int64_t untouched = 0;
  for (const Real value : fields.result()) untouched += value == Real(-77);
  EXPECT_EQ(untouched, static_cast<std::int64_t>(fields.to.size()) - fields.box().cells());
}

TYPED_TEST(Sweep, SumsTheSquaredChangeOfItsBox) {
  using Real = typename TypeParam::Real;
  using Stencil = typename TypeParam::Stencil;
  const Fields<Real, Stencil> fields(TypeParam::cells());
  Kokkos::deep_copy(fields.to, fields.from);
  double sum = 100;
  sweep<Stencil>(Space{}, "test", fields.sweep_fields(true), fields.box(), &sum);
  double expected = 100;
  for (std::size_t i = 0; i < fields.to.size(); ++i) {
    const double change = static_cast<double>(fields.to(i)) - static_cast<double>(fields.from(i));
    expected += change * change;
  }
  EXPECT_NEAR(sum, expected, 1e-10 * expected);
}

TYPED_TEST(Sweep, GivesTheSameBitsWithAndWithoutTheSum) {
  using Real = typename TypeParam::Real;
  using Stencil = typename TypeParam::Stencil;
  const Fields<Real, Stencil> fields(TypeParam::cells());
  sweep<Stencil>(Space{}, "test", fields.sweep_fields(true), fields.box());
  const auto without_sum = fields.result();
  double sum = 0;
  sweep<Stencil>(Space{}, "test", fields.sweep_fields(true), fields.box(), &sum);
  EXPECT_EQ(fields.result(), without_sum);
}

TYPED_TEST(Sweep, ReferenceReachesTheFixedPoint) {
  using Real = typename TypeParam::Real;
  using Stencil = typename TypeParam::Stencil;
  constexpr int D = Stencil::dimensions;
  Problem<D> problem{.name = Case::dirichlet, .amplitude = 2};
  problem.cells.fill(7);
  Reference<Real, Stencil> reference(problem);
  for (int step = 0; step < 800; ++step) reference.sweep();
  const Theory theory = theory_of<Stencil>(problem.cells, problem.periodic, problem.amplitude);
  std::array<std::int64_t, D> middle;
  middle.fill(3);
  EXPECT_NEAR(reference.at(middle), theory.discrete_amplitude, sizeof(Real) == 4 ? 1e-5 : 1e-13);
}

}  // namespace
}  // namespace selvage::jacobi

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
