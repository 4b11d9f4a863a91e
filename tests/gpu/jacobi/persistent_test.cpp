#include "../comm/own_gpus.hpp"
#include "common/rank_sums.hpp"
#include "jacobi/solver.hpp"
#include "jacobi/verify/compare_serial.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

namespace selvage::jacobi {
namespace {

/// Slabs of a problem on all ranks, solved in one form.
template <class Real>
class SlabRun {
 public:
  SlabRun(const Problem<2>& problem, bool persistent)
      : context_(MPI_COMM_WORLD),
        grid_(context_,
              {.cells = problem.cells, .periodic = problem.periodic, .ranks = {context_.size(), 1}}),
        breakdown_("test", false),
        solver(Kokkos::DefaultExecutionSpace(), grid_, problem, {.persistent = persistent}, breakdown_) {}

  [[nodiscard]] std::string difference_from_serial() const {
    const auto result =
        compare_with_serial<FivePoint, Real>(grid_, solver.problem(), solver.step(), solver.owned_values());
    if (result.different == 0) return result.cells > 0 ? "" : "nothing was compared";
    return fmt::format("{} of {} cells, the first is [{}, {}], {} instead of {}", result.different,
                       result.cells, result.first[0], result.first[1], result.distributed, result.serial);
  }

 private:
  Context context_;
  Grid<2> grid_;
  app::Breakdown breakdown_;

 public:
  Solver<Real, FivePoint> solver;
};

/// Ranks that share a GPU have no persistent form; with GPUs of their own they must have one. Collective.
template <class Real>
std::string refusal(const Problem<2>& problem) {
  const Context context(MPI_COMM_WORLD);
  const Grid<2> grid(context,
                     {.cells = problem.cells, .periodic = problem.periodic, .ranks = {context.size(), 1}});
  const std::string reason = refuse_persistent<Real>(grid);
  EXPECT_EQ(reason.empty(), test::have_ranks_own_gpus()) << reason;
  return reason;
}

Problem<2> sample(std::int64_t rows, std::int64_t columns) {
  return {.name = Case::public_sample, .cells = {rows, columns}, .periodic = {true, false}};
}

Problem<2> dirichlet(std::int64_t rows, std::int64_t columns, bool periodic = false) {
  return {.name = Case::dirichlet, .cells = {rows, columns}, .periodic = {periodic, false}, .amplitude = 1.5};
}

double sum_of(double own) {
  return app::sum_over_ranks(MPI_COMM_WORLD, "a test's norm", own);
}

template <class Real>
class Persistent : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Persistent, Types);

/// Launches of whole passes, of single steps and of both, with norms between them.
template <class Real>
void expect_serial_bits(const Problem<2>& problem) {
  if (const std::string reason = refusal<Real>(problem); !reason.empty()) GTEST_SKIP() << reason;
  SlabRun<Real> run(problem, true);
  SlabRun<Real> plain(problem, false);
  const int steps = persistent_steps_per_pass<Real>();
  for (const int sweeps : {1, steps, 3 * steps + 2, steps - 1, 5}) {
    run.solver.advance(sweeps);
    plain.solver.advance(sweeps);
    const double change = sum_of(run.solver.try_sweep());
    const double expected = sum_of(plain.solver.try_sweep());
    EXPECT_NEAR(change, expected, 1e-9 * expected) << "after " << run.solver.step() << " sweeps";
    EXPECT_EQ(run.difference_from_serial(), "") << "the sweep that was tried is not to count";
    run.solver.accept();
    plain.solver.accept();
  }
  EXPECT_EQ(run.difference_from_serial(), "")
      << problem.cells[0] << " x " << problem.cells[1] << ", " << to_string(problem.name);
}

TYPED_TEST(Persistent, EqualsTheSerialSampleWithUnevenSlabs) {
  expect_serial_bits<TypeParam>(sample(67, 130));
}

TYPED_TEST(Persistent, EqualsTheSerialSampleInTheLowestSlabs) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  expect_serial_bits<TypeParam>(sample(ranks * persistent_steps_per_pass<TypeParam>(), 30));
}

TYPED_TEST(Persistent, EqualsTheSerialSolutionBetweenFixedSides) {
  expect_serial_bits<TypeParam>(dirichlet(131, 521));
}

TYPED_TEST(Persistent, EqualsTheSerialSolutionWithASourceAroundThePeriod) {
  expect_serial_bits<TypeParam>(dirichlet(203, 337, true));
}

TYPED_TEST(Persistent, EqualsTheSerialSolutionWhereTheLastStripIsFull) {
  expect_serial_bits<TypeParam>(sample(64, 112 * 3));
}

TYPED_TEST(Persistent, EqualsTheSerialSolutionWithTilesOnEveryMultiprocessor) {
  expect_serial_bits<TypeParam>(sample(1201, 1403));
}

TYPED_TEST(Persistent, KeepsItsBitsOverManyLaunches) {
  const Problem<2> problem = sample(509, 771);
  if (const std::string reason = refusal<TypeParam>(problem); !reason.empty()) GTEST_SKIP() << reason;
  SlabRun<TypeParam> run(problem, true);
  // Launches follow each other without a fence, of every length up to three passes.
  for (int launch = 0; launch < 60; ++launch) run.solver.advance(1 + launch % 25);
  EXPECT_EQ(run.difference_from_serial(), "");
}

TYPED_TEST(Persistent, ContinuesFromARestart) {
  const Problem<2> problem = sample(90, 200);
  if (const std::string reason = refusal<TypeParam>(problem); !reason.empty()) GTEST_SKIP() << reason;
  SlabRun<TypeParam> whole(problem, true);
  SlabRun<TypeParam> rest(problem, true);
  whole.solver.advance(13);
  rest.solver.advance(3);
  rest.solver.restore(13, whole.solver.owned_values());
  rest.solver.advance(22);
  whole.solver.advance(22);
  EXPECT_EQ(rest.solver.owned_values(), whole.solver.owned_values());
  EXPECT_EQ(rest.difference_from_serial(), "");
}

TYPED_TEST(Persistent, TellsWhyItCannotRun) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Context context(MPI_COMM_WORLD);
  const auto reason = [&](std::array<std::int64_t, 2> cells, std::array<bool, 2> periodic,
                          std::array<int, 2> grid_ranks) {
    return refuse_persistent<TypeParam>(Grid<2>(context, {cells, periodic, grid_ranks}));
  };
  EXPECT_NE(reason({64, 64}, {true, true}, {ranks, 1}).find("fixed sides in x"), std::string::npos);
  EXPECT_NE(reason({ranks, 64}, {true, false}, {ranks, 1}).find("rows per rank"), std::string::npos);
  if (ranks > 1) {
    EXPECT_NE(reason({64, 64}, {true, false}, {1, ranks}).find("slabs"), std::string::npos);
  }
}

/// A shorter time limit for the Contexts made while it lives.
class ShortTimeout {
 public:
  explicit ShortTimeout(const char* timeout_ms) {
    if (const char* value = std::getenv(name)) before_ = value;
    setenv(name, timeout_ms, 1);
  }
  ShortTimeout(const ShortTimeout&) = delete;
  ShortTimeout& operator=(const ShortTimeout&) = delete;
  ~ShortTimeout() {
    if (before_) {
      setenv(name, before_->c_str(), 1);
    } else {
      unsetenv(name);
    }
  }

 private:
  static constexpr const char* name = "SELVAGE_TIMEOUT_MS";
  std::optional<std::string> before_;
};

std::string timeout_message(const SlabRun<float>& run) {
  try {
    static_cast<void>(run.solver.owned_values());
  } catch (const Error& error) {
    return error.kind() == ErrorKind::timeout ? error.message() : "not a timeout: " + error.message();
  }
  return "no error";
}

TEST(PersistentWaits, NameTheRankThatDoesNotCome) {
  int ranks = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Problem<2> problem = sample(16 * ranks, 64);
  if (ranks < 2) GTEST_SKIP() << "one rank waits for nobody";
  if (const std::string reason = refusal<float>(problem); !reason.empty()) GTEST_SKIP() << reason;
  const ShortTimeout limit("700");
  SlabRun<float> run(problem, true);
  if (rank == 0) {
    run.solver.advance(40);
    const std::string message = timeout_message(run);
    const std::string last = fmt::format("for rank {} ", ranks - 1);
    EXPECT_TRUE(message.find("for rank 1 ") != std::string::npos || message.find(last) != std::string::npos)
        << message;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace selvage::jacobi
