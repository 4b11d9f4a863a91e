#include "weak_scaling.hpp"

#include "../support/trial.hpp"
#include "jacobi/solver.hpp"
#include "same_cells.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace selvage::bench {
namespace {

using jacobi::Overlap;
using jacobi::Problem;
using jacobi::SevenPoint;
using Space = Kokkos::DefaultExecutionSpace;
using Solver = jacobi::Solver<double, SevenPoint>;

constexpr int rounds = 9;
constexpr int sweeps = 20;
constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

/// One problem, and the solvers of it that differ in how they overlap.
class Forms {
 public:
  Forms(const Context& context, std::int64_t n, const std::vector<Overlap>& overlaps)
      : problem_{.name = jacobi::Case::public_sample, .cells = {n * context.size(), n, n}},
        grid_(context, {.cells = problem_.cells, .ranks = {context.size(), 1, 1}}),
        breakdown_("bench", false) {
    for (const Overlap overlap : overlaps) {
      solvers_.push_back(std::make_unique<Solver>(Space(), grid_, problem_,
                                                  jacobi::SolverOptions{.overlap = overlap}, breakdown_));
      names_.emplace_back(fmt::format("overlap {}", to_string(overlap)));
    }
    verify();
  }

  void add_to(std::vector<Contender>& contenders, const std::string& prefix) {
    for (std::size_t i = 0; i < solvers_.size(); ++i) {
      contenders.push_back(
          {prefix + names_[i], [solver = solvers_[i].get()] { solver->advance(sweeps); }, sweeps});
    }
  }

 private:
  void verify() const {
    std::vector<Solver*> solvers;
    for (const auto& solver : solvers_) solvers.push_back(solver.get());
    verify_forms(solvers, 7);
  }

  Problem<3> problem_;
  Grid<3> grid_;
  app::Breakdown breakdown_;
  std::vector<std::unique_ptr<Solver>> solvers_;
  std::vector<std::string> names_;
};

}  // namespace

Record weak_scaling_record(const Context& context, std::int64_t n) {
  const Context self(MPI_COMM_SELF);
  Forms alone(self, n, {Overlap::off});
  Forms together(context, n, {Overlap::off, Overlap::host, Overlap::kernel});
  std::vector<Contender> contenders;
  alone.add_to(contenders, "alone, ");
  together.add_to(contenders, "");
  const Trial trial(context.comm(), contenders, rounds);
  const std::string& best =
      std::ranges::min_element(contenders.begin() + 1, contenders.end(), {}, [&](const Contender& contender) {
        return trial.median(contender.name);
      })->name;
  Record record;
  record.name = fmt::format("jacobi/weak/fp64/3d7/{}/{}{}", n, context.size(), on_host ? "rank" : "gpu");
  record.unit = "of one alone";
  record.better = "higher";
  record.value = trial.median(contenders.front().name) / trial.median(best);
  record.floor = 1;
  record.choice = best;
  record.verified = true;
  record.repetitions = rounds;
  record.spread = trial.spread(best);
  for (const Contender& contender : contenders)
    record.peers[contender.name + " us"] = trial.median(contender.name) * 1e6;
  return record;
}

}  // namespace selvage::bench
