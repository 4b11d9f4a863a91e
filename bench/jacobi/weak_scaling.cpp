#include "weak_scaling.hpp"

#include "../support/on_host.hpp"
#include "jacobi/solver.hpp"
#include "same_cells.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using jacobi::Overlap;
using jacobi::Problem;
using jacobi::SevenPoint;
using Space = Kokkos::DefaultExecutionSpace;
using Solver = jacobi::Solver<double, SevenPoint>;

constexpr int sweeps = 20;

/// As jacobi chooses for the backend, then the others.
std::vector<Overlap> by_default_first() {
  if (on_host) return {Overlap::host, Overlap::off, Overlap::kernel};
  return {Overlap::off, Overlap::host, Overlap::kernel};
}

/// One problem, and the solvers of it that differ in how they overlap; of which one more is compared with, where there is one only.
class Forms {
 public:
  Forms(const Context& context, std::int64_t n, const std::vector<Overlap>& overlaps)
      : problem_{.name = jacobi::Case::public_sample, .cells = {n * context.size(), n, n}},
        grid_(context, {.cells = problem_.cells, .ranks = {context.size(), 1, 1}}),
        breakdown_("bench", false) {
    for (const Overlap overlap : overlaps) {
      solvers_.push_back(solver(overlap));
      names_.emplace_back(fmt::format("overlap {}", to_string(overlap)));
    }
    if (overlaps.size() == 1) reference_ = solver(overlaps[0] == Overlap::off ? Overlap::host : Overlap::off);
  }
  Forms(const Forms&) = delete;
  Forms& operator=(const Forms&) = delete;

  void add_to(std::vector<Contender>& contenders, const std::string& prefix) {
    for (std::size_t i = 0; i < solvers_.size(); ++i) {
      contenders.push_back({prefix + names_[i], [one = solvers_[i].get()] { one->advance(sweeps); },
                            [this] { verify(); }, sweeps});
    }
  }

 private:
  [[nodiscard]] std::unique_ptr<Solver> solver(Overlap overlap) {
    return std::make_unique<Solver>(Space(), grid_, problem_, jacobi::SolverOptions{.overlap = overlap},
                                    breakdown_);
  }

  void verify() const {
    std::vector<Solver*> solvers;
    for (const auto& solver : solvers_) solvers.push_back(solver.get());
    if (reference_) solvers.push_back(reference_.get());
    // Some sweeps as they are timed, and one that gives what changed.
    verify_forms(solvers, [](Solver& solver) {
      solver.advance(sweeps);
      const double norm = solver.try_sweep();
      solver.accept();
      return norm;
    });
  }

  Problem<3> problem_;
  Grid<3> grid_;
  app::Breakdown breakdown_;
  std::vector<std::unique_ptr<Solver>> solvers_;
  std::unique_ptr<Solver> reference_;  ///< is not timed
  std::vector<std::string> names_;
};

}  // namespace

Figure weak_scaling_figure(const Context& context, std::int64_t n) {
  const Context self(MPI_COMM_SELF);
  const auto alone = std::make_shared<Forms>(self, n, std::vector{Overlap::off});
  const auto together = std::make_shared<Forms>(context, n, by_default_first());
  Figure figure;
  together->add_to(figure.contenders, "");
  alone->add_to(figure.contenders, "alone, ");
  const std::string by_default = figure.contenders.front().name;
  figure.derive = [by_default](const Times& times) {
    return std::map<std::string, double>{
        {"scaling, %", 100 * times.at("alone, overlap off") / times.at(by_default)}};
  };
  figure.keeps = std::make_shared<std::pair<std::shared_ptr<Forms>, std::shared_ptr<Forms>>>(alone, together);
  return figure;
}

}  // namespace selvage::bench
