// profile_prediction run STEPS FILE: exchanges a halo through MPI STEPS times, and writes what its Grid predicts of one
// exchange to FILE.
// profile_prediction check FEW MANY FILE TIMES: whether the profile MANY holds just TIMES exchanges as predicted more than
// the profile FEW. What both runs did beside them is the same.
#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/topo/traffic_file.hpp>

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <utility>

namespace {

using selvage::topo::Amount;
using selvage::topo::Traffic;
using Space = Kokkos::DefaultHostExecutionSpace;

void run(int steps, const std::string& path) {
  const selvage::Context context(Space(), MPI_COMM_WORLD);
  const selvage::Grid<2> grid(context, {.cells = {13, 17}, .periodic = {true, false}});
  const selvage::HaloOptions<2> options{
      .width = {{1, 2}, {0, 1}}, .corners = true, .transport = selvage::Transport::mpi_staged};
  const auto view = grid.allocate<double, void, Kokkos::HostSpace>("u", options.width);
  selvage::HaloExchange halo(Space(), grid, options, view);
  for (int step = 0; step < steps; ++step) halo.exchange(Space(), view);
  if (context.rank() != 0) return;
  selvage::topo::write_traffic(
      path, grid.halo_traffic(options.width, sizeof(double), options.corners, selvage::topo::Memory::host));
}

using Amounts = std::map<std::pair<int, int>, Amount>;

/// Between different ranks.
Amounts amounts_of(const std::string& path) {
  Amounts amounts;
  const Traffic traffic = selvage::topo::read_traffic(path);
  for (const auto& entry : traffic.entries()) {
    if (entry.from != entry.to) amounts[{entry.from, entry.to}] = entry.host;
  }
  return amounts;
}

int check(const std::string& few, const std::string& many, const std::string& predicted,
          std::uint64_t times) {
  Amounts before = amounts_of(few);
  Amounts exchange = amounts_of(predicted);
  int wrong = exchange.empty() ? 1 : 0;
  for (const auto& [pair, amount] : amounts_of(many)) {
    const std::uint64_t bytes = amount.bytes - before[pair].bytes;
    const std::uint64_t messages = amount.messages - before[pair].messages;
    const Amount wanted = exchange[pair];
    if (bytes == times * wanted.bytes && messages == times * wanted.messages) continue;
    std::fprintf(stderr, "from %d to %d: %lu bytes in %lu messages instead of %lu times %lu in %lu\n",
                 pair.first, pair.second, bytes, messages, times, wanted.bytes, wanted.messages);
    ++wrong;
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  try {
    if (mode == "check" && argc == 6)
      return check(argv[2], argv[3], argv[4], std::strtoul(argv[5], nullptr, 10));
    if (mode != "run" || argc != 4) return 2;
    MPI_Init(&argc, &argv);
    Kokkos::initialize(argc, argv);
    run(std::atoi(argv[2]), argv[3]);
    Kokkos::finalize();
    MPI_Finalize();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "profile_prediction: %s\n", error.what());
    return 1;
  }
}
