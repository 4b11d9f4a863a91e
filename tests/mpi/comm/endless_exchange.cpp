// Exchanges halos for ever; the last rank dies on the way, in the way its argument says: "killed" or "exits".
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

void die(std::string_view manner) {
  if (manner == "killed") kill(getpid(), SIGKILL);
  std::_Exit(3);
}

void exchange_until_dead(std::string_view manner) {
  using Space = Kokkos::DefaultExecutionSpace;
  const selvage::Context context(MPI_COMM_WORLD);
  const selvage::Grid<1> grid(context, {.cells = {100}, .periodic = {true}});
  const auto view = grid.allocate<double>("u", 1);
  selvage::HaloExchange halo(Space(), grid, {.width = 1}, view);
  constexpr int rounds_before = 1000;
  for (int round = 0;; ++round) {
    if (round == rounds_before && grid.rank() == grid.size() - 1) die(manner);
    halo.exchange(Space(), view);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    exchange_until_dead(argc > 1 ? argv[1] : "killed");
  } catch (const selvage::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
