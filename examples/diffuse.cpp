// Heat in a periodic box. Cells that need no ghosts are computed while these are on their way; nothing fences.
#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <utility>

using Space = Kokkos::DefaultExecutionSpace;
using View = Kokkos::View<double***, Space::array_layout, Space::memory_space>;

constexpr double rate = 0.1;  // of the difference to each of six neighbours, per step

Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>> cells(const Space& space, const selvage::Box<3>& box) {
  return {space, {box.begin[0], box.begin[1], box.begin[2]}, {box.end[0], box.end[1], box.end[2]}};
}

// --8<-- [start:kernel]
void diffuse(const Space& space, const selvage::Box<3>& box, const View& from, const View& to) {
  Kokkos::parallel_for(
      "diffuse", cells(space, box), KOKKOS_LAMBDA(int i, int j, int k) {
        const double around = from(i - 1, j, k) + from(i + 1, j, k) + from(i, j - 1, k) + from(i, j + 1, k) +
                              from(i, j, k - 1) + from(i, j, k + 1);
        to(i, j, k) = from(i, j, k) + rate * (around - 6 * from(i, j, k));
      });
}
// --8<-- [end:kernel]

/// A wave along the first axis, which keeps its shape.
struct Wave {
  double per_cell;
  std::int64_t first_cell;  ///< of this rank, in the whole box, less its index in a View
  KOKKOS_FUNCTION double at(int i) const {
    return Kokkos::sin(per_cell * static_cast<double>(first_cell + i));
  }
};

void fill(const Space& space, const selvage::Box<3>& box, const View& u, const Wave& wave) {
  Kokkos::parallel_for(
      "fill", cells(space, box), KOKKOS_LAMBDA(int i, int j, int k) { u(i, j, k) = wave.at(i); });
}

double largest_error(const Space& space, const selvage::Context& context, const selvage::Box<3>& box,
                     const View& u, const Wave& wave, double height) {
  const Kokkos::View<double, Space::memory_space> largest("largest error");
  Kokkos::parallel_reduce(
      "error", cells(space, box),
      KOKKOS_LAMBDA(int i, int j, int k, double& error) {
        error = Kokkos::max(error, Kokkos::abs(u(i, j, k) - height * wave.at(i)));
      },
      Kokkos::Max<double, Space::memory_space>(largest));
  selvage::Allreduce of_all(space, context, largest, {.operation = selvage::ReduceOperation::max});
  of_all.run(space);
  double result = 0;
  Kokkos::deep_copy(space, result, largest);
  space.fence();
  return result;
}

int run(std::int64_t n, int steps) {
  const Space space;
  const selvage::Context context(MPI_COMM_WORLD);
  // --8<-- [start:plan]
  const selvage::Grid<3> grid(context, {.cells = {n, n, n}, .periodic = {true, true, true}});
  View u = grid.allocate<double>("u", 1), v = grid.allocate<double>("v", 1);
  const selvage::Box<3> own = grid.local_box(1), inner = grid.shrunk(own, 1);
  const Wave wave{2 * std::numbers::pi / static_cast<double>(n), grid.box().begin[0] - own.begin[0]};
  fill(space, own, u, wave);

  selvage::HaloExchange halo(space, grid, {.corners = false, .ghost_reuse = selvage::GhostReuse::alternating},
                             u, v);
  // --8<-- [end:plan]
  if (context.rank() == 0) std::fputs(halo.explain().c_str(), stdout);
  // --8<-- [start:main_loop]
  for (int step = 0; step < steps; ++step, std::swap(u, v)) {
    auto pending = halo.start(space, u);
    diffuse(space, inner, u, v);
    halo.finish(space, std::move(pending));
    for (const selvage::Box<3>& edge : without(own, inner)) diffuse(space, edge, u, v);
  }
  // --8<-- [end:main_loop]

  const double height = std::pow(1 - 2 * rate * (1 - std::cos(wave.per_cell)), steps);
  const double error = largest_error(space, context, own, u, wave, height);
  halo.check();
  if (context.rank() == 0)
    std::printf("after %d steps the wave is %.6f high; largest error %.1e\n", steps, height, error);
  return error < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// --8<-- [start:main]
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = run(48, 100);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "diffuse: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
// --8<-- [end:main]
