// A distributed transpose whose kernel sends its blocks as it completes them. The host registers one transfer per rank. Each team of the
// kernel computes a row, and fires a trigger per block of it. When all rows of a block are there, a proxy thread sends it, while the
// kernel goes on. No host call stands between the kernel and the messages.
#include <selvage/comm/trigger.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

using Space = Kokkos::DefaultExecutionSpace;
using Team = Kokkos::TeamPolicy<Space>::member_type;
using Blocks = Kokkos::View<double****, Kokkos::LayoutRight, Space::memory_space,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;  // parity, rank, row, column
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Space::memory_space>;

KOKKOS_FUNCTION double element(int step, int row, int column) {
  return step + 1e-3 * row + 1e-6 * column;
}

int run(int rows, int steps) {
  const Space space;
  const selvage::Context context(MPI_COMM_WORLD);
  const int ranks = context.size(), rank = context.rank();
  const std::uint64_t block = static_cast<std::uint64_t>(rows) * rows * sizeof(double);

  // --8<-- [start:register]
  // In each rank's window: a word per block, by which it is known to have come, and the blocks. Two sets, which take turns: who sends
  // its block of a step has received all of the step before, so the blocks of the step before that are free.
  const std::uint64_t words = 2 * ranks, blocks = words * sizeof(std::uint64_t);
  const selvage::Window window(space, context, blocks + 2 * ranks * block);
  const Kokkos::View<double****, Kokkos::LayoutRight, Space::memory_space> out("out", 2, ranks, rows, rows);
  selvage::Triggers triggers(space, context, {.ids = static_cast<std::uint32_t>(words)});
  for (int parity = 0; parity < 2; ++parity) {
    for (int target = 0; target < ranks; ++target) {
      const std::uint64_t here = parity * ranks + rank;  // the place of this rank's block there
      triggers.add_for_all_epochs(parity * ranks + target,
                                  {.window = &window,
                                   .target = target,
                                   .local = &out(parity, target, 0, 0),
                                   .bytes = block,
                                   .offset = blocks + here * block,
                                   .arrival = here * sizeof(std::uint64_t)},
                                  rows);
    }
  }
  const selvage::TriggerPort port = triggers.device();
  // --8<-- [end:register]
  if (!triggers.has_thread())
    throw std::runtime_error("MPI gave no MPI_THREAD_MULTIPLE, so kernels can't wait for messages");

  const auto* arrived = reinterpret_cast<const std::uint64_t*>(window.data());
  const Blocks in(reinterpret_cast<double*>(window.data() + blocks), 2, ranks, rows, rows);
  const Matrix result("result", rows, ranks * rows);
  int wrong = 0;
  for (int step = 0; step < steps; ++step) {
    const int parity = step % 2;
    const std::uint64_t epoch = 1 + step / 2;  // of this set of blocks
    // --8<-- [start:kernel]
    Kokkos::parallel_for(
        "compute", Kokkos::TeamPolicy<Space>(space, rows, Kokkos::AUTO), KOKKOS_LAMBDA(const Team& team) {
          const int row = team.league_rank();
          for (int target = 0; target < ranks; ++target) {
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](int column) {
              out(parity, target, row, column) = element(step, rank * rows + row, target * rows + column);
            });
            port.fire_team(team, {static_cast<std::uint32_t>(parity * ranks + target), epoch});
          }
        });
    Kokkos::parallel_for(
        "transpose", Kokkos::TeamPolicy<Space>(space, ranks, Kokkos::AUTO), KOKKOS_LAMBDA(const Team& team) {
          const int source = team.league_rank();
          // It gives up after the time limit; the check below then finds wrong elements.
          port.wait_until(team, arrived + parity * ranks + source, epoch);
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * rows), [&](int i) {
            result(i % rows, source * rows + i / rows) = in(parity, source, i / rows, i % rows);
          });
        });
    // --8<-- [end:kernel]
    int wrong_now = 0;
    Kokkos::parallel_reduce(
        "check", Kokkos::RangePolicy<Space>(space, 0, rows * ranks * rows),
        KOKKOS_LAMBDA(int i, int& sum) {
          const int row = i / (ranks * rows), column = i % (ranks * rows);
          if (result(row, column) != element(step, column, rank * rows + row)) ++sum;
        },
        wrong_now);
    wrong += wrong_now;
    triggers.check();
  }
  std::printf("rank %d: %d transposes of %d x %d elements, %d wrong\n", rank, steps, ranks * rows,
              ranks * rows, wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);  // for the proxy thread
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = run(24, 100);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "transpose: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
