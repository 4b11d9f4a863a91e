// Exchanges halos for ever; the last rank dies on the way, in the way its argument says: "killed" or "exits". With
// a second argument, "port", kernels exchange them; with "allreduce" a View is reduced instead, with "list" ghosts of a
// list are filled.
#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/comm/list_halo.hpp>

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

using Space = Kokkos::DefaultExecutionSpace;

struct PutAll {
  selvage::HaloPort port;
  selvage::HaloPort::Box own;
  KOKKOS_FUNCTION void operator()(const Kokkos::TeamPolicy<Space>::member_type& team) const {
    const auto turn = port.open(team);
    turn.put(team, 0, own);
    turn.close(team);
  }
};

constexpr int rounds_before = 50;

void reduce_until_dead(std::string_view manner) {
  const selvage::Context context(MPI_COMM_WORLD);
  const Kokkos::View<double*, Space> view("gradients", 100);
  selvage::Allreduce allreduce(Space(), context, view);
  for (int round = 0;; ++round) {
    if (round == rounds_before && context.rank() == context.size() - 1) die(manner);
    allreduce.run(Space());
    Space().fence();
    allreduce.check();
  }
}

void gather_until_dead(std::string_view manner) {
  const selvage::Context context(MPI_COMM_WORLD);
  const Kokkos::View<int*, Space> ids("ids", 2 * context.size());
  const Kokkos::View<int*, Space> ranks("ranks", 2 * context.size());
  const auto ranks_on_host = Kokkos::create_mirror_view(ranks);
  for (int entry = 0; entry < 2 * context.size(); ++entry) ranks_on_host(entry) = entry / 2;
  Kokkos::deep_copy(ranks, ranks_on_host);
  selvage::ListHalo list(Space(), context, 1, ids, ranks);
  const Kokkos::View<double*, Space> view("x", 1 + list.ghosts());
  for (int round = 0;; ++round) {
    if (round == rounds_before && context.rank() == context.size() - 1) die(manner);
    list.gather(Space(), view);
  }
}

void exchange_until_dead(std::string_view manner, bool by_kernels) {
  const selvage::Context context(MPI_COMM_WORLD);
  const selvage::Grid<1> grid(context, {.cells = {100}, .periodic = {true}});
  const auto view = grid.allocate<double>("u", 1);
  selvage::HaloExchange halo(Space(), grid, {.width = 1}, view);
  selvage::HaloPort port;
  if (by_kernels) port = halo.device(Space(), view);
  const PutAll kernel{port, {.begin = {1}, .end = {1 + grid.box().extent(0)}}};
  for (int round = 0;; ++round) {
    if (round == rounds_before && grid.rank() == grid.size() - 1) die(manner);
    if (!by_kernels) {
      halo.exchange(Space(), view);
      continue;
    }
    Kokkos::parallel_for("test::put", Kokkos::TeamPolicy<Space>(1, 1), kernel);
    halo.await(Space(), port);
    Space().fence();
    halo.check();
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    const std::string_view manner = argc > 1 ? argv[1] : "killed";
    const std::string_view what = argc > 2 ? argv[2] : "halo";
    if (what == "allreduce") {
      reduce_until_dead(manner);
    } else if (what == "list") {
      gather_until_dead(manner);
    } else {
      exchange_until_dead(manner, what == "port");
    }
  } catch (const selvage::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
