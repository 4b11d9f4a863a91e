// A smoothing sweep per launch whose kernel sends its own boundary: no packing, no fence, no MPI call between steps.
#include <selvage/comm/halo_exchange.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <utility>

using Space = Kokkos::DefaultExecutionSpace;
using Team = Kokkos::TeamPolicy<Space>::member_type;

int smooth(MPI_Comm comm, std::int64_t n, int steps) {
  const selvage::Context context(comm);
  const selvage::Grid<2> grid(context, {.cells = {n, n}, .periodic = {true, true}});
  auto u = grid.allocate<double, Kokkos::LayoutRight>("u", 1),
       v = grid.allocate<double, Kokkos::LayoutRight>("v", 1);
  const std::int64_t rows = grid.box().extent(0), columns = grid.box().extent(1);
  const double k = 2 * std::numbers::pi / static_cast<double>(n);
  const auto wave = Kokkos::create_mirror_view(u);
  for (std::int64_t i = 1; i <= rows; ++i)
    for (std::int64_t j = 1; j <= columns; ++j)
      wave(i, j) = std::sin(k * static_cast<double>(grid.box().begin[0] + i));
  Kokkos::deep_copy(u, wave);

  const Space space;
  // --8<-- [start:port]
  selvage::HaloExchange halo(space, grid, {.corners = false, .ghost_reuse = selvage::GhostReuse::alternating},
                             u, v);
  const selvage::HaloPort port = halo.device(space, u, v);  // u is View 0, v is View 1
  // --8<-- [end:port]
  halo.exchange(space, u);
  for (int step = 0; step < steps; ++step, std::swap(u, v)) {
    // --8<-- [start:kernel]
    halo.check();  // kernels can't throw
    Kokkos::parallel_for(
        "smooth", Kokkos::TeamPolicy<Space>(space, static_cast<int>(rows), Kokkos::AUTO),
        KOKKOS_LAMBDA(const Team& team) {
          const auto turn = port.open(team);
          turn.wait_all(team, 0);  // for what the neighbours put in their launch before
          const std::int64_t i = team.league_rank() + 1;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, 1, columns + 1), [&](std::int64_t j) {
            v(i, j) = 0.25 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
          });
          team.team_barrier();
          turn.put(team, 1 - step % 2, {.begin = {i, 1}, .end = {i + 1, columns + 1}});  // the last one fires
          turn.close(team);
        });
    // --8<-- [end:kernel]
  }
  space.fence();
  halo.check();
  Kokkos::deep_copy(wave, u);
  const double left = std::pow((1 + std::cos(k)) / 2, steps);  // of the wave's height, exactly
  double error = 0;
  for (std::int64_t i = 1; i <= rows; ++i)
    error = std::max(
        error, std::abs(wave(i, 1) - left * std::sin(k * static_cast<double>(grid.box().begin[0] + i))));
  std::printf("rank %d: a wave smoothed %d times is %.6f high; error %.1e\n", context.rank(), steps, left,
              error);
  return error < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);  // for neighbours on other hosts
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = smooth(MPI_COMM_WORLD, 96, 200);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "send_from_kernel: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
