#include "jacobi/solver.hpp"

#include "common/rank_sums.hpp"
#include "jacobi/physics/theory.hpp"
#include "jacobi/verify/compare_serial.hpp"
#include "jacobi/verify/field_errors.hpp"

#include <selvage/comm/context.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace selvage::jacobi {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

template <class Real, class Stencil>
class SolverRun {
 public:
  static constexpr int D = Stencil::dimensions;

  SolverRun(const Problem<D>& problem, const SolverOptions& options, std::array<int, D> ranks = {})
      : context_(MPI_COMM_WORLD),
        grid_(context_, {.cells = problem.cells, .periodic = problem.periodic, .ranks = ranks}),
        breakdown_("test", false),
        solver(Space{}, grid_, problem, options, breakdown_) {}

  [[nodiscard]] std::string difference_from_serial() const {
    const auto result =
        compare_with_serial<Stencil, Real>(grid_, solver.problem(), solver.step(), solver.owned_values());
    if (result.different == 0) return result.cells > 0 ? "" : "nothing was compared";
    return fmt::format("{} of {} cells, the first is {} instead of {}", result.different, result.cells,
                       result.distributed, result.serial);
  }

  [[nodiscard]] const Grid<D>& grid() const { return grid_; }

 private:
  Context context_;
  Grid<D> grid_;
  app::Breakdown breakdown_;

 public:
  Solver<Real, Stencil> solver;
};

/// Uneven boxes on any number of ranks up to 6, and a periodic axis in one of two places.
template <int D>
Problem<D> problem_with(bool first_is_periodic) {
  Problem<D> problem{.name = Case::dirichlet, .amplitude = 1.5};
  problem.cells.fill(19);
  problem.cells[D - 1] = 23;
  problem.periodic[first_is_periodic ? 0 : D - 1] = true;
  return problem;
}

template <class Real, class Stencil>
void expect_serial_bits(const Problem<Stencil::dimensions>& problem, const SolverOptions& options,
                        const std::array<int, Stencil::dimensions>& ranks = {}) {
  SolverRun<Real, Stencil> run(problem, options, ranks);
  // The norm is taken in two of the sweeps: these must not differ from the others.
  for (int step = 0; step < 7; ++step) {
    if (step % 3 == 1) {
      static_cast<void>(run.solver.try_sweep());
      run.solver.accept();
    } else {
      run.solver.advance();
    }
  }
  EXPECT_EQ(run.difference_from_serial(), "")
      << Stencil::points << "-point, overlap " << to_string(options.overlap) << ", "
      << options.steps_per_exchange << " steps per exchange, axis 0 "
      << (problem.periodic[0] ? "periodic" : "fixed");
}

template <class T>
class SolverOf : public testing::Test {};

template <class R, class S>
struct Config {
  using Real = R;
  using Stencil = S;
};
using Configs = testing::Types<Config<double, FivePoint>, Config<float, NinePoint>,
                               Config<double, SevenPoint>, Config<float, TwentySevenPoint>>;
TYPED_TEST_SUITE(SolverOf, Configs);

TYPED_TEST(SolverOf, EqualsTheSerialSolutionBitByBit) {
  using Stencil = typename TypeParam::Stencil;
  for (const bool first_is_periodic : {false, true}) {
    for (const Overlap overlap : {Overlap::off, Overlap::host}) {
      for (const int steps_per_exchange : {1, 2, 3}) {
        expect_serial_bits<typename TypeParam::Real, Stencil>(
            problem_with<Stencil::dimensions>(first_is_periodic),
            {.overlap = overlap, .steps_per_exchange = steps_per_exchange});
      }
    }
  }
}

TYPED_TEST(SolverOf, EqualsTheSerialSolutionWhenItsKernelsSend) {
  using Stencil = typename TypeParam::Stencil;
  for (const bool first_is_periodic : {false, true}) {
    expect_serial_bits<typename TypeParam::Real, Stencil>(
        problem_with<Stencil::dimensions>(first_is_periodic), {.overlap = Overlap::kernel});
  }
  // Large enough for tiles that no neighbour needs.
  Problem<Stencil::dimensions> large = problem_with<Stencil::dimensions>(true);
  large.cells.fill(Stencil::dimensions == 2 ? 120 : 30);
  large.cells[Stencil::dimensions - 1] = 800;
  expect_serial_bits<typename TypeParam::Real, Stencil>(large, {.overlap = Overlap::kernel});
}

TYPED_TEST(SolverOf, EqualsTheSerialSolutionWhenProxiesCarryWhatItsKernelsSend) {
  using Stencil = typename TypeParam::Stencil;
  for (const bool first_is_periodic : {false, true}) {
    expect_serial_bits<typename TypeParam::Real, Stencil>(
        problem_with<Stencil::dimensions>(first_is_periodic),
        {.overlap = Overlap::kernel, .transport = Transport::mpi_staged});
  }
}

TYPED_TEST(SolverOf, EqualsTheSerialSolutionOverEachTransport) {
  using Stencil = typename TypeParam::Stencil;
  for (const Transport transport : {Transport::peer, Transport::mpi_direct, Transport::mpi_staged}) {
    if (transport != Transport::mpi_staged && !detail::runs_on_host<Space>) continue;
    for (const int steps_per_exchange : {1, 2}) {
      expect_serial_bits<typename TypeParam::Real, Stencil>(
          problem_with<Stencil::dimensions>(true),
          {.steps_per_exchange = steps_per_exchange, .transport = transport, .initiation = Initiation::host});
    }
  }
}

TEST(Solver, PublicSampleEqualsTheSerialSolutionWithPeriodicGhostRows) {
  const Problem<2> sample{.name = Case::public_sample, .cells = {30, 30}, .periodic = {true, false}};
  for (const int steps_per_exchange : {1, 2, 4}) {
    expect_serial_bits<double, FivePoint>(sample, {.steps_per_exchange = steps_per_exchange});
  }
}

TEST(Solver, BoxesOfOneRowWork) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Problem<2> problem{.name = Case::dirichlet, .cells = {std::max(ranks, 3), 6}, .periodic = {false, false}};
  expect_serial_bits<double, FivePoint>(problem, {.overlap = Overlap::host}, {ranks, 1});
  problem.periodic = {true, true};
  expect_serial_bits<double, NinePoint>(problem, {.overlap = Overlap::host}, {ranks, 1});
}

/// |measured error ratio / lambda^k - 1| after each of `steps` sweeps, the largest.
template <class Stencil>
double worst_ratio(const Problem<Stencil::dimensions>& problem, int steps) {
  constexpr int D = Stencil::dimensions;
  SolverRun<double, Stencil> run(problem, {});
  const Theory theory = theory_of<Stencil>(problem.cells, problem.periodic, problem.amplitude);
  const ErrorMeter<double, D, Space> meter(Space{}, run.grid(), problem, theory);
  double worst = 0;
  for (int step = 0; step <= steps; ++step) {
    const FieldErrors own = meter.measure(run.solver.first_cell(), run.solver.strides(), step);
    const double projection = app::sum_over_ranks(MPI_COMM_WORLD, "a test's error", own.projection);
    const double ratio = projection / (theory.discrete_amplitude * theory.squared_norm);
    worst = std::max(worst, std::abs(ratio / theory.error(step) - 1));
    run.solver.advance();
  }
  return worst;
}

TEST(Solver, ErrorIsCosineToThePowerOfSweeps) {
  EXPECT_LE(worst_ratio<FivePoint>({.name = Case::dirichlet, .cells = {63, 63}}, 300), 1e-12);
}

TEST(Solver, ErrorFollowsTheNinePointTheory) {
  EXPECT_LE(worst_ratio<NinePoint>({.name = Case::dirichlet, .cells = {63, 63}}, 300), 1e-12);
}

TEST(Solver, ErrorFollowsTheSevenPointTheory) {
  EXPECT_LE(worst_ratio<SevenPoint>(
                {.name = Case::dirichlet, .cells = {24, 31, 31}, .periodic = {true, false, false}}, 100),
            1e-12);
}

TEST(Solver, ErrorFollowsTheTwentySevenPointTheory) {
  EXPECT_LE(worst_ratio<TwentySevenPoint>({.name = Case::dirichlet, .cells = {31, 31, 31}}, 100), 1e-12);
}

TEST(Solver, ContinuesBitByBitFromAnyStepWithinACycle) {
  for (const int stop : {1, 2, 3, 4}) {
    SolverRun<double, FivePoint> whole(problem_with<2>(true), {.steps_per_exchange = 3});
    SolverRun<double, FivePoint> rest(problem_with<2>(true), {.steps_per_exchange = 3});
    for (int step = 0; step < stop; ++step) whole.solver.advance();
    rest.solver.restore(stop, whole.solver.owned_values());
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = stop; step < 9; ++step) {
      // Sums are taken over the same boxes, so they agree to the bit too.
      EXPECT_EQ(whole.solver.try_sweep(), rest.solver.try_sweep())
          << "stopped at " << stop << ", step " << step;
      whole.solver.accept();
      rest.solver.accept();
    }
    EXPECT_EQ(whole.solver.owned_values(), rest.solver.owned_values());
  }
}

TEST(Solver, TriedSweepsChangeNothingUntilAccepted) {
  SolverRun<double, FivePoint> run(problem_with<2>(false), {});
  run.solver.advance();
  const auto before = run.solver.owned_values();
  static_cast<void>(run.solver.try_sweep());
  EXPECT_EQ(run.solver.owned_values(), before);
  EXPECT_EQ(run.solver.step(), 1);
}

}  // namespace
}  // namespace selvage::jacobi
