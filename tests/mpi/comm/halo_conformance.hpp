#pragma once

#include "halo_fixture.hpp"

#include <mpi.h>

#include <optional>
#include <vector>

namespace selvage::test {

/// Also as the library chooses, which mixes transports where hosts do.
inline std::vector<std::optional<Transport>> all_transports() {
  std::vector<std::optional<Transport>> all{std::nullopt};
  for (const Transport transport : halo_transports()) all.emplace_back(transport);
  return all;
}
inline const std::array all_initiations{Initiation::host, Initiation::stream, Initiation::queue,
                                        Initiation::kernel};

/// How many combinations the suite must have run at least: every initiation over each transport, but MPI on a
/// GPU staged and not from the stream, and the copy engines not from kernels.
inline int least_combinations() {
  constexpr int reuses = 2;
  const bool one_host = this_job().is_on_one_host();
  const int chosen = on_host || one_host ? 4 : 3;
  const int over_peer = one_host ? 4 : 0;
  const int over_copy_engines = !on_host && one_host ? 2 : 0;
  const int over_mpi = on_host ? 8 : 3;
  return (chosen + over_peer + over_copy_engines + over_mpi) * reuses;
}

/// Whether this build can do a combination at all.
template <int D>
bool is_possible(const Grid<D>& grid, const HaloOptions<D>& options, const auto&... views) {
  try {
    const HaloExchange halo(Space(), grid, options, views...);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
    return false;
  }
}

/// Three rounds with new values through one HaloExchange of two alternating Views.
template <class Kind>
void expect_exact(const Grid<Kind::D>& grid, const HaloCase<Kind::D>& halo_case,
                  const HaloOptions<Kind::D>& options, Home home) {
  const TestField<Kind> u(grid, halo_case.width, home);
  const TestField<Kind> v(grid, halo_case.width, home);
  const Space space;
  HaloExchange halo(space, grid, options, u.view(), v.view());
  fill(u, grid, halo_case.width, 0, 0);
  for (int round = 0; round < 3; ++round) {
    const auto& field = round % 2 == 0 ? u : v;
    // The other one is poisoned before this exchange, because a neighbour may put into it right after.
    fill(round % 2 == 0 ? v : u, grid, halo_case.width, 0, round + 1);
    halo.exchange(space, field.view());
    space.fence();
    const int wrong = on_all_ranks(count_wrong(field, grid, halo_case, 0, round));
    ASSERT_EQ(wrong, 0) << halo_case.name << ", round " << round << "\n" << halo.explain();
  }
}

/// Everything that is built, for one kind of field and one case, on a grid of the case's cells.
template <class Kind>
int expect_exact_everywhere(const Grid<Kind::D>& grid, const HaloCase<Kind::D>& halo_case) {
  int combinations = 0;
  for (const std::optional<Transport> transport : all_transports()) {
    for (const Initiation initiation : all_initiations) {
      for (const GhostReuse reuse : {GhostReuse::credit, GhostReuse::alternating}) {
        const HaloOptions<Kind::D> options{.width = halo_case.width,
                                           .corners = halo_case.corners,
                                           .ghost_reuse = reuse,
                                           .transport = transport,
                                           .initiation = initiation};
        const TestField<Kind> probe(grid, halo_case.width, Home::shared);
        if (!is_possible(grid, options, probe.view())) continue;
        ++combinations;
        expect_exact<Kind>(grid, halo_case, options, Home::shared);
        if (testing::Test::HasFatalFailure()) return combinations;
      }
    }
  }
  return combinations;
}
template <class Kind>
int expect_exact_everywhere(const Context& context, const HaloCase<Kind::D>& halo_case) {
  const Grid<Kind::D> grid(context, {.cells = halo_case.cells, .periodic = halo_case.periodic});
  return expect_exact_everywhere<Kind>(grid, halo_case);
}

template <int D>
using FieldKinds =
    testing::Types<FieldKind<D, double, Kokkos::LayoutRight, 0>, FieldKind<D, double, Kokkos::LayoutLeft, 2>,
                   FieldKind<D, float, Kokkos::LayoutLeft, 0>, FieldKind<D, float, Kokkos::LayoutStride, 3>,
                   FieldKind<D, int, Kokkos::LayoutStride, 0>, FieldKind<D, int, Kokkos::LayoutRight, 2>,
                   FieldKind<D, Kokkos::complex<double>, Kokkos::LayoutRight, 0>,
                   FieldKind<D, std::int16_t, Kokkos::LayoutLeft, 0>>;

}  // namespace selvage::test
