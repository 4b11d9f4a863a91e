// The Jacobi iteration in its forms, in turns: us per iteration with the norm every 100, and the share of the device's
// copy rate that one step per pass reaches, and weak scaling. Forms are compared bit by bit before they are timed.
#include "../support/figure.hpp"
#include "../support/mpi_main.hpp"
#include "../support/trial.hpp"
#include "jacobi/solver.hpp"
#include "same_cells.hpp"
#include "weak_scaling.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::bench {
namespace {

using jacobi::FivePoint;
using jacobi::Overlap;
using jacobi::Problem;
using jacobi::SolverOptions;
using Space = Kokkos::DefaultExecutionSpace;

constexpr int rounds = 5;
constexpr int norm_every = 100;
constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

template <class Real>
constexpr const char* type_name = sizeof(Real) == 4 ? "fp32" : "fp64";

/// The public sample, whose n x n arrays count the boundary.
Problem<2> sample(std::int64_t n) {
  return {.name = jacobi::Case::public_sample, .cells = {n - 2, n - 2}, .periodic = {true, false}};
}

/// The forms of one problem, verified against each other and timed in turns.
template <class Real>
class JacobiTrial {
 public:
  using Solver = jacobi::Solver<Real, FivePoint>;

  JacobiTrial(const Context& context, std::int64_t n)
      : problem_(sample(n)),
        grid_(context,
              {.cells = problem_.cells, .periodic = problem_.periodic, .ranks = {context.size(), 1}}),
        breakdown_("bench", false) {
    add("overlap off", {.overlap = Overlap::off});
    add("overlap host", {.overlap = Overlap::host});
    if (jacobi::refuse_persistent<Real>(grid_).empty()) add("persistent", {.persistent = true});
    verify();
    std::vector<Contender> contenders;
    for (const Form& form : forms_)
      contenders.push_back({form.name, [solver = form.solver] { iterate_to_norm(*solver); }});
    trial_ = std::make_unique<Trial>(context.comm(), contenders, rounds);
  }

  [[nodiscard]] Record record(std::int64_t n) const {
    Record record;
    record.name = fmt::format("jacobi/public-sample/{}/{}/{}{}", type_name<Real>, n, grid_.size(),
                              on_host ? "rank" : "gpu");
    record.unit = "us/iteration";
    const std::string& best = forms_.back().name;
    record.value = us_per_iteration(best);
    record.choice = forms_.back().explanation;
    record.verified = true;
    record.repetitions = rounds;
    record.spread = trial_->spread(best);
    for (const Form& form : forms_) record.peers[form.name] = us_per_iteration(form.name);
    return record;
  }

 private:
  struct Form {
    std::string name;
    std::shared_ptr<Solver> solver;
    std::string explanation;
  };

  void add(const std::string& name, const SolverOptions& options) {
    auto solver = std::make_shared<Solver>(Space(), grid_, problem_, options, breakdown_);
    const std::string why = solver->persistent() != nullptr ? solver->persistent()->explain() : name;
    forms_.push_back({name, std::move(solver), why});
  }

  static void iterate_to_norm(Solver& solver) {
    solver.advance(norm_every - 1);
    benchmark::DoNotOptimize(solver.try_sweep());
    solver.accept();
  }

  [[nodiscard]] double us_per_iteration(const std::string& form) const {
    return trial_->median(form) * 1e6 / norm_every;
  }

  void verify() const {
    std::vector<Solver*> solvers;
    for (const Form& form : forms_) solvers.push_back(form.solver.get());
    verify_forms(solvers, 23);
  }

  Problem<2> problem_;
  Grid<2> grid_;
  app::Breakdown breakdown_;
  std::vector<Form> forms_;
  std::unique_ptr<Trial> trial_;
};

template <class Real>
Figure sample_figure(const Context& context, std::int64_t n) {
  const Record record = JacobiTrial<Real>(context, n).record(n);
  Figure figure{.seconds = record.value * 1e-6, .records = {record}};
  for (const auto& [name, value] : record.peers) figure.counters[name + "_us"] = value;
  return figure;
}

template <class Real>
using Cells = Kokkos::View<Real*, Space::memory_space>;
using CellPolicy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

template <class Real>
void fill(const Space& space, const Cells<Real>& cells) {
  Kokkos::parallel_for(
      "bench::fill", CellPolicy(space, 0, static_cast<std::int64_t>(cells.size())),
      KOKKOS_LAMBDA(std::int64_t i) { cells(i) = Real(i % 4099) / Real(4099); });
}

/// Cells at least a plane away from the ends that a sweep left otherwise than cell by cell arithmetic would.
template <class Real, class Stencil>
[[nodiscard]] std::int64_t count_wrong(const Space& space, const Cells<Real>& from, const Cells<Real>& to,
                                       std::int64_t n) {
  constexpr int D = Stencil::dimensions;
  jacobi::Strides<D> stride{};
  stride.y = n + 2;
  if constexpr (D == 3) stride.z = (n + 2) * (n + 2);
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "bench::count_wrong", CellPolicy(space, 0, static_cast<std::int64_t>(from.size())),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & count) {
        bool inside = true;
        for (std::int64_t rest = i, axis = 0; axis < D; ++axis, rest /= n + 2) {
          inside = inside && rest % (n + 2) > 0 && rest % (n + 2) <= n;
        }
        if (!inside) return;
        const Real expected = static_cast<Real>(Stencil::weight) * Stencil::sum(from.data() + i, stride);
        if (to(i) != expected) ++count;
      },
      wrong);
  return wrong;
}

/// One step per pass over one rank's field, against a copy of the same bytes.
template <class Real, class Stencil>
class CopyShare {
 public:
  static constexpr int D = Stencil::dimensions;

  CopyShare(const Context& context, std::int64_t n) : n_(n) {
    std::size_t cells = 1;
    for (int axis = 0; axis < D; ++axis) cells *= static_cast<std::size_t>(n + 2);
    from_ = Cells<Real>("from", cells);
    to_ = Cells<Real>("to", cells);
    fill<Real>(space_, from_);
    sweep_once();
    if (const std::int64_t wrong = count_wrong<Real, Stencil>(space_, from_, to_, n); wrong > 0)
      throw Error(ErrorKind::verification, fmt::format("a sweep leaves {} wrong cells", wrong));
    trial_ = std::make_unique<Trial>(
        context.comm(),
        std::vector<Contender>{{"sweep", [this] { sweep_once(); }},
                               {"copy", [this] { Kokkos::deep_copy(space_, to_, from_); }}},
        rounds);
  }

  [[nodiscard]] Record record() const {
    const double seconds = trial_->median("sweep");
    Record record;
    record.name = fmt::format("jacobi/copy-share/{}/{}{}", type_name<Real>, D == 3 ? "3d7/" : "", n_);
    record.unit = "of the copy rate";
    record.better = "higher";
    record.value = trial_->median("copy") * std::pow(static_cast<double>(n_) / (n_ + 2.0), D) / seconds;
    record.floor = 1;
    record.peers = {{"sweep_us", seconds * 1e6},
                    {"copy_us", trial_->median("copy") * 1e6},
                    {"sweep_GB_per_s", std::pow(n_, D) * 2 * sizeof(Real) / seconds * 1e-9}};
    record.choice = "plain sweep";
    record.verified = true;
    record.repetitions = rounds;
    record.spread = trial_->spread("sweep");
    return record;
  }

  void sweep_once() const {
    jacobi::SweepFields<Real, D> fields{from_.data(), to_.data(), {}, {}};
    fields.stride.y = n_ + 2;
    if constexpr (D == 3) fields.stride.z = (n_ + 2) * (n_ + 2);
    Box<D> box;
    box.begin.fill(1);
    box.end.fill(n_ + 1);
    jacobi::sweep<Stencil>(space_, "bench::sweep", fields, box);
  }

 private:
  std::int64_t n_;
  Space space_;
  Cells<Real> from_, to_;
  std::unique_ptr<Trial> trial_;
};

template <class Real, class Stencil>
Figure share_figure(const Context& context, std::int64_t n) {
  const Record record = CopyShare<Real, Stencil>(context, n).record();
  return {.seconds = record.peers.at("sweep_us") * 1e-6,
          .counters = {{"copy_share", record.value}},
          .records = {record}};
}

Figure weak_figure(const Context& context, std::int64_t n) {
  const Record record = weak_scaling_record(context, n);
  return {.seconds = record.peers.at(record.choice + " us") * 1e-6,
          .counters = {{"of_one_alone", record.value}},
          .records = {record}};
}

using Measure = Figure (*)(const Context&, std::int64_t);

void add(const Context& context, const std::string& name, std::int64_t n, Measure measure,
         std::vector<Record>& records) {
  register_figure(fmt::format("{}/{}", name, n), records,
                  [context, n, measure] { return measure(context, n); });
}

std::vector<std::int64_t> sizes() {
  if (on_host) return {1024, 2048};
  return {1024, 2048, 4096, 8192, 16384, 20480, 32768};
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage;
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm, std::vector<Record>& records) {
    const Context context(comm);
    for (const std::int64_t n : sizes()) {
      add(context, "jacobi/public-sample/fp32", n, sample_figure<float>, records);
      if (n <= 16384) add(context, "jacobi/public-sample/fp64", n, sample_figure<double>, records);
    }
    const std::int64_t n = on_host ? 4096 : 16384;
    add(context, "jacobi/copy-share/fp32", n, share_figure<float, FivePoint>, records);
    add(context, "jacobi/copy-share/fp64", n, share_figure<double, FivePoint>, records);
    add(context, "jacobi/copy-share/fp64/3d7", on_host ? 128 : 512, share_figure<double, jacobi::SevenPoint>,
        records);
    if (context.size() > 1) add(context, "jacobi/weak/fp64/3d7", on_host ? 96 : 512, weak_figure, records);
  });
}
