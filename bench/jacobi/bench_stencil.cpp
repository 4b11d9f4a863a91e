// The sweeps of jacobi against plain hand-written loops, in turns and with the same compiler flags.
// `ours_over_plain` is how many times as fast ours is; `residual_GLUPS` is ours with the norm of the change.
// Results are compared before anything is timed.
#include "jacobi/sweep.hpp"

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using selvage::Box;
using selvage::jacobi::FivePoint;
using selvage::jacobi::NinePoint;
using selvage::jacobi::SevenPoint;
using selvage::jacobi::Strides;
using selvage::jacobi::SweepFields;
using selvage::jacobi::TwentySevenPoint;

using Space = Kokkos::DefaultHostExecutionSpace;

template <class Real, int D>
struct Fields {
  using View = std::conditional_t<D == 2, Kokkos::View<Real**, Kokkos::LayoutRight, Kokkos::HostSpace>,
                                  Kokkos::View<Real***, Kokkos::LayoutRight, Kokkos::HostSpace>>;
  std::int64_t n;
  View from, ours, plain;

  explicit Fields(std::int64_t cells)
      : n(cells), from(make("from")), ours(make("ours")), plain(make("plain")) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      from.data()[i] = static_cast<Real>(std::sin(0.37 * static_cast<double>(i % 4099)));
    }
  }

  [[nodiscard]] View make(const std::string& label) const {
    const auto extent = static_cast<std::size_t>(n + 2);
    if constexpr (D == 2) {
      return View(label, extent, extent);
    } else {
      return View(label, extent, extent, extent);
    }
  }

  [[nodiscard]] SweepFields<Real, D> sweep_fields() const {
    SweepFields<Real, D> fields{from.data(), ours.data(), {}, {}};
    fields.stride.y = n + 2;
    if constexpr (D == 3) fields.stride.z = (n + 2) * (n + 2);
    return fields;
  }

  [[nodiscard]] Box<D> box() const {
    Box<D> box;
    box.begin.fill(1);
    box.end.fill(n + 1);
    return box;
  }

  [[nodiscard]] double cells() const { return std::pow(static_cast<double>(n), D); }

  /// The orders of additions differ, so the results may by a few units in the last place of values around 1.
  [[nodiscard]] bool agree() const {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (std::abs(ours.data()[i] - plain.data()[i]) > 8 * std::numeric_limits<Real>::epsilon()) return false;
    }
    return true;
  }
};

template <class Real>
[[gnu::noinline]] void plain_sweep(FivePoint, const Real* __restrict__ u, Real* __restrict__ v,
                                   std::int64_t n) {
  const std::int64_t s = n + 2;
  for (std::int64_t y = 1; y <= n; ++y) {
    for (std::int64_t x = 1; x <= n; ++x) {
      const std::int64_t i = y * s + x;
      v[i] = Real(0.25) * (u[i + 1] + u[i - 1] + u[i + s] + u[i - s]);
    }
  }
}

template <class Real>
[[gnu::noinline]] void plain_sweep(NinePoint, const Real* __restrict__ u, Real* __restrict__ v,
                                   std::int64_t n) {
  const std::int64_t s = n + 2;
  for (std::int64_t y = 1; y <= n; ++y) {
    for (std::int64_t x = 1; x <= n; ++x) {
      const std::int64_t i = y * s + x;
      v[i] = Real(0.05) * (4 * (u[i + 1] + u[i - 1] + u[i + s] + u[i - s]) + u[i + s + 1] + u[i + s - 1] +
                           u[i - s + 1] + u[i - s - 1]);
    }
  }
}

template <class Real>
[[gnu::noinline]] void plain_sweep(SevenPoint, const Real* __restrict__ u, Real* __restrict__ v,
                                   std::int64_t n) {
  const std::int64_t s = n + 2;
  const std::int64_t p = s * s;
  for (std::int64_t z = 1; z <= n; ++z) {
    for (std::int64_t y = 1; y <= n; ++y) {
      for (std::int64_t x = 1; x <= n; ++x) {
        const std::int64_t i = z * p + y * s + x;
        v[i] = Real(1.0 / 6) * (u[i + 1] + u[i - 1] + u[i + s] + u[i - s] + u[i + p] + u[i - p]);
      }
    }
  }
}

template <class Real>
[[gnu::noinline]] void plain_sweep(TwentySevenPoint, const Real* __restrict__ u, Real* __restrict__ v,
                                   std::int64_t n) {
  const std::int64_t s = n + 2;
  const std::int64_t p = s * s;
  for (std::int64_t z = 1; z <= n; ++z) {
    for (std::int64_t y = 1; y <= n; ++y) {
      for (std::int64_t x = 1; x <= n; ++x) {
        const std::int64_t i = z * p + y * s + x;
        const Real* const a = u + i - p;
        const Real* const b = u + i;
        const Real* const c = u + i + p;
        v[i] = Real(1.0 / 26) *
               (a[-s - 1] + a[-s] + a[-s + 1] + a[-1] + a[0] + a[1] + a[s - 1] + a[s] + a[s + 1] +  //
                b[-s - 1] + b[-s] + b[-s + 1] + b[-1] + b[1] + b[s - 1] + b[s] + b[s + 1] +         //
                c[-s - 1] + c[-s] + c[-s + 1] + c[-1] + c[0] + c[1] + c[s - 1] + c[s] + c[s + 1]);
      }
    }
  }
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

template <class Work>
double seconds_of(const Work& work) {
  const Kokkos::Timer timer;
  work();
  benchmark::ClobberMemory();
  return timer.seconds();
}

/// Our sweep and the plain loop take turns, so that both see the same machine. The benchmark's time is ours.
template <class Real, class Stencil>
void pair(benchmark::State& state) {
  const Fields<Real, Stencil::dimensions> fields(state.range(0));
  const Space space;
  const auto ours = [&] {
    selvage::jacobi::sweep<Stencil>(space, "jacobi::interior", fields.sweep_fields(), fields.box());
    space.fence();
  };
  const auto with_residual = [&] {
    double sum = 0;
    selvage::jacobi::sweep<Stencil>(space, "jacobi::interior", fields.sweep_fields(), fields.box(), &sum);
    benchmark::DoNotOptimize(sum);
  };
  const auto plain = [&] { plain_sweep(Stencil{}, fields.from.data(), fields.plain.data(), fields.n); };
  ours();
  plain();
  if (!fields.agree()) return state.SkipWithError("the sweep differs from the plain loop");
  std::vector<double> ours_s, residual_s, plain_s;
  for (auto _ : state) {
    ours_s.push_back(seconds_of(ours));
    plain_s.push_back(seconds_of(plain));
    residual_s.push_back(seconds_of(with_residual));
    state.SetIterationTime(ours_s.back());
  }
  const double giga_updates = fields.cells() * 1e-9;
  state.counters["ours_GLUPS"] = giga_updates / median(ours_s);
  state.counters["plain_GLUPS"] = giga_updates / median(plain_s);
  state.counters["residual_GLUPS"] = giga_updates / median(residual_s);
  state.counters["ours_over_plain"] = median(plain_s) / median(ours_s);
}

template <class Real, class Stencil>
void add_pairs(const std::string& type, std::initializer_list<std::int64_t> sizes) {
  const std::string name = "stencil/" + std::to_string(Stencil::points) + "pt/" + type;
  for (const std::int64_t n : sizes) {
    benchmark::RegisterBenchmark(name.c_str(), pair<Real, Stencil>)->Arg(n)->UseManualTime();
  }
}

template <class Real>
void add_type(const std::string& type) {
  add_pairs<Real, FivePoint>(type, {1024, 2048, 4096});
  add_pairs<Real, NinePoint>(type, {1024, 2048, 4096});
  add_pairs<Real, SevenPoint>(type, {128, 256});
  add_pairs<Real, TwentySevenPoint>(type, {128, 256});
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    add_type<float>("fp32");
    add_type<double>("fp64");
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
  }
  MPI_Finalize();
  return 0;
}
