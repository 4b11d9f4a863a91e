// The Jacobi iteration in its forms, in turns: us per iteration with the norm every 100, and the share of the device's
// copy rate that one step per pass reaches, and weak scaling. The program's default is first. Forms are compared bit by bit, and
// by their norms, before they are timed and after.
#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"
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
#include <initializer_list>
#include <map>
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

constexpr int norm_every = 100;

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
    // As the program does without options, then the others.
    const Overlap first = on_host ? Overlap::host : Overlap::off;
    for (const Overlap overlap : {first, on_host ? Overlap::off : Overlap::host, Overlap::kernel})
      add(fmt::format("overlap {}", to_string(overlap)), {.overlap = overlap});
    if (jacobi::refuse_persistent<Real>(grid_).empty()) add("persistent", {.persistent = true});
  }
  JacobiTrial(const JacobiTrial&) = delete;
  JacobiTrial& operator=(const JacobiTrial&) = delete;

  [[nodiscard]] Figure figure() const {
    Figure figure{.contenders = {}, .label = label_};
    for (const Form& form : forms_) {
      figure.contenders.push_back(
          {form.name, [solver = form.solver] { benchmark::DoNotOptimize(iterate_to_norm(*solver)); },
           [this] { verify(); }, norm_every});
    }
    return figure;
  }

 private:
  struct Form {
    std::string name;
    std::shared_ptr<Solver> solver;
  };

  void add(const std::string& name, const SolverOptions& options) {
    auto solver = std::make_shared<Solver>(Space(), grid_, problem_, options, breakdown_);
    if (forms_.empty()) label_ = name;
    if (solver->persistent() != nullptr) label_ += "; persistent: " + solver->persistent()->explain();
    forms_.push_back({name, std::move(solver)});
  }

  static double iterate_to_norm(Solver& solver) {
    solver.advance(norm_every - 1);
    const double norm = solver.try_sweep();
    solver.accept();
    return norm;
  }

  void verify() const {
    std::vector<Solver*> solvers;
    for (const Form& form : forms_) solvers.push_back(form.solver.get());
    verify_forms(solvers, iterate_to_norm);
  }

  Problem<2> problem_;
  Grid<2> grid_;
  app::Breakdown breakdown_;
  std::vector<Form> forms_;
  std::string label_;
};

template <class Real>
Figure sample_figure(const Context& context, std::int64_t n) {
  const auto trial = std::make_shared<JacobiTrial<Real>>(context, n);
  Figure figure = trial->figure();
  figure.keeps = trial;
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

template <class Real>
[[nodiscard]] std::int64_t count_different(const Space& space, const Cells<Real>& from,
                                           const Cells<Real>& to) {
  std::int64_t different = 0;
  Kokkos::parallel_reduce(
      "bench::count_different", CellPolicy(space, 0, static_cast<std::int64_t>(from.size())),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & count) { count += from(i) == to(i) ? 0 : 1; }, different);
  return different;
}

/// One step per pass over one rank's field, against a copy of the same bytes.
template <class Real, class Stencil>
class CopyShare {
 public:
  static constexpr int D = Stencil::dimensions;

  explicit CopyShare(std::int64_t n) : n_(n) {
    std::size_t cells = 1;
    for (int axis = 0; axis < D; ++axis) cells *= static_cast<std::size_t>(n + 2);
    from_ = Cells<Real>("from", cells);
    to_ = Cells<Real>("to", cells);
    fill<Real>(space_, from_);
  }
  CopyShare(const CopyShare&) = delete;
  CopyShare& operator=(const CopyShare&) = delete;

  [[nodiscard]] Figure figure() const {
    const double owned = std::pow(static_cast<double>(n_) / (static_cast<double>(n_) + 2.0), D);
    const double bytes = std::pow(static_cast<double>(n_), D) * 2 * sizeof(Real);
    return {.contenders = {{"selvage", [this] { sweep_once(); }, [this] { check_sweep(); }},
                           {"floor: copy", [this] { Kokkos::deep_copy(space_, to_, from_); },
                            [this] { check_copy(); }}},
            .label = "plain sweep",
            .derive = [owned, bytes](const Times& times) {
              const double seconds = times.at("selvage");
              return std::map<std::string, double>{
                  {"of the copy rate, %", 100 * owned * times.at("floor: copy") / seconds},
                  {"sweep, GB/s", bytes / seconds * 1e-9}};
            }};
  }

 private:
  void check_sweep() const {
    Kokkos::deep_copy(space_, to_, Real(-1));
    sweep_once();
    if (const std::int64_t wrong = count_wrong<Real, Stencil>(space_, from_, to_, n_); wrong > 0)
      throw Error(ErrorKind::verification, fmt::format("a sweep leaves {} wrong cells", wrong));
  }
  void check_copy() const {
    Kokkos::deep_copy(space_, to_, Real(-1));
    Kokkos::deep_copy(space_, to_, from_);
    if (count_different<Real>(space_, from_, to_) > 0)
      throw Error(ErrorKind::verification, "a copy leaves other cells");
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

  std::int64_t n_;
  Space space_;
  Cells<Real> from_, to_;
};

template <class Real, class Stencil>
Figure share_figure(const Context&, std::int64_t n) {
  const auto share = std::make_shared<CopyShare<Real, Stencil>>(n);
  Figure figure = share->figure();
  figure.keeps = share;
  return figure;
}

using Make = Figure (*)(const Context&, std::int64_t);

void add(const Context& context, const std::string& name, std::int64_t n, int rounds, Make make) {
  register_figure(fmt::format("{}/{}/{}", name, n, ranks_text(context.machine())), context.comm(), rounds,
                  [=] { return make(context, n); });
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
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const Context context(comm);
    for (const std::int64_t n : sizes()) {
      add(context, "jacobi/public-sample/fp32", n, 5, sample_figure<float>);
      if (n <= 16384) add(context, "jacobi/public-sample/fp64", n, 5, sample_figure<double>);
    }
    const std::int64_t n = on_host ? 4096 : 16384;
    add(context, "jacobi/copy-share/fp32", n, 5, share_figure<float, FivePoint>);
    add(context, "jacobi/copy-share/fp64", n, 5, share_figure<double, FivePoint>);
    add(context, "jacobi/copy-share/fp64/3d7", on_host ? 128 : 512, 5,
        share_figure<double, jacobi::SevenPoint>);
    if (context.size() > 1) add(context, "jacobi/weak/fp64/3d7", on_host ? 96 : 512, 9, weak_scaling_figure);
  });
}
