// Every cell holds its global index; after one exchange the ghosts must hold their owners' indices.
#include <selvage/comm/context.hpp>
#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/version.hpp>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstdint>
#include <cstdio>

#if SELVAGE_VERSION_NUMBER < 200
#error "this needs Selvage 0.2.0"
#endif
static_assert(selvage::version == EXPECTED_VERSION);
static_assert(SELVAGE_VERSION_NUMBER ==
              10000 * selvage::version_major + 100 * selvage::version_minor + selvage::version_patch);

namespace {

constexpr std::int64_t cells = 10;

/// The number of wrong cells, ghosts included, over all ranks. Collective.
int wrong_cells() {
  const Kokkos::DefaultExecutionSpace space;
  const selvage::Context context(MPI_COMM_WORLD);
  const selvage::Grid<1> grid(context, {.cells = {cells}, .periodic = {true}});
  const auto field = grid.allocate<double>("field", 1);
  const std::int64_t first = grid.box().begin[0];
  const std::int64_t owned = grid.box().extent(0);

  Kokkos::parallel_for(
      "consumer::fill", Kokkos::RangePolicy(space, 0, owned + 2), KOKKOS_LAMBDA(const int i) {
        field(i) = i == 0 || i == owned + 1 ? -1.0 : static_cast<double>(first + i - 1);
      });
  selvage::HaloExchange halo(space, grid, {.width = 1}, field);
  halo.exchange(space, field);

  int wrong = 0;
  Kokkos::parallel_reduce(
      "consumer::check", Kokkos::RangePolicy(space, 0, owned + 2),
      KOKKOS_LAMBDA(const int i, int& count) {
        if (field(i) != static_cast<double>((first + i - 1 + cells) % cells)) ++count;
      },
      wrong);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, context.comm());
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0;
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    wrong = wrong_cells();
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("wrong cells: %d\n", wrong);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
