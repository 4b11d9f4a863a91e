// The sweeps of jacobi against plain hand-written loops, in turns and with the same compiler flags.
#include "../support/figure.hpp"
#include "../support/mpi_main.hpp"
#include "jacobi/physics/sweep.hpp"

#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace selvage::bench {
namespace {

using selvage::Box;
using selvage::jacobi::FivePoint;
using selvage::jacobi::NinePoint;
using selvage::jacobi::SevenPoint;
using selvage::jacobi::Strides;
using selvage::jacobi::SweepFields;
using selvage::jacobi::TwentySevenPoint;

using Space = Kokkos::DefaultHostExecutionSpace;
constexpr int rounds = 31;

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

void require(bool agree) {
  if (!agree) throw selvage::Error(selvage::ErrorKind::verification, "the sweep differs from the plain loop");
}

template <class Real, class Stencil>
Figure figure_of(std::int64_t n) {
  const auto fields = std::make_shared<Fields<Real, Stencil::dimensions>>(n);
  const auto ours = [fields] {
    selvage::jacobi::sweep<Stencil>(Space(), "jacobi::interior", fields->sweep_fields(), fields->box());
  };
  const auto with_norm = [fields] {
    double sum = 0;
    selvage::jacobi::sweep<Stencil>(Space(), "jacobi::interior", fields->sweep_fields(), fields->box(), &sum);
    benchmark::DoNotOptimize(sum);
  };
  const auto plain = [fields] {
    plain_sweep(Stencil{}, fields->from.data(), fields->plain.data(), fields->n);
    benchmark::ClobberMemory();
  };
  // Each is compared with the plain loop, that one with what the last of ours left.
  const auto check = [fields, plain](const auto& run) {
    return [=] {
      Kokkos::deep_copy(fields->ours, Real(0));
      run();
      Space().fence();
      plain();
      require(fields->agree());
    };
  };
  const auto check_plain = [fields, ours, plain] {
    Kokkos::deep_copy(fields->plain, Real(0));
    plain();
    ours();
    Space().fence();
    require(fields->agree());
  };
  const double giga_updates = fields->cells() * 1e-9;
  return {.contenders = {{"selvage", ours, check(ours)},
                         {"with the norm", with_norm, check(with_norm)},
                         {"plain loop", plain, check_plain}},
          .derive = [giga_updates](const Times& times) {
            std::map<std::string, double> rates;
            for (const auto& [name, seconds] : times) rates[name + ", GLUPS"] = giga_updates / seconds;
            return rates;
          }};
}

template <class Real, class Stencil>
void add_figures(const std::string& type, std::initializer_list<std::int64_t> sizes) {
  for (const std::int64_t n : sizes) {
    register_figure(fmt::format("stencil/{}pt/{}/{}", Stencil::points, type, n), MPI_COMM_SELF, rounds,
                    [n] { return figure_of<Real, Stencil>(n); });
  }
}

template <class Real>
void add_type(const std::string& type) {
  add_figures<Real, FivePoint>(type, {1024, 2048, 4096});
  add_figures<Real, NinePoint>(type, {1024, 2048, 4096});
  add_figures<Real, SevenPoint>(type, {128, 256});
  add_figures<Real, TwentySevenPoint>(type, {128, 256});
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [](MPI_Comm) {
    add_type<float>("fp32");
    add_type<double>("fp64");
  });
}
