// Heat conduction twice: with messages by hand, and with Selvage. Both must end with the same bits.
#include "heat/by_hand.hpp"
#include "heat/with_selvage.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

/// Of this rank's cells, n along each axis, behind one ghost.
int count_differences(const heat::Field& one, const heat::Field& other, int n) {
  int differences = 0;
  Kokkos::parallel_reduce(
      "differences", heat::cells(heat::Space(), {1, 1, 1}, {n + 1, n + 1, n + 1}),
      KOKKOS_LAMBDA(int i, int j, int k, int& sum) { sum += one(i, j, k) == other(i, j, k) ? 0 : 1; },
      differences);
  return differences;
}

int run(int n, int steps) {
  const selvage::Context context(MPI_COMM_WORLD);
  std::array<int, 3> ranks{0, 0, 0};
  MPI_Dims_create(context.size(), 3, ranks.data());
  heat::ByHand by_hand(context.comm(), {n, n, n}, ranks);
  heat::WithSelvage with_selvage(context, {n, n, n}, ranks);
  for (int step = 0; step < steps; ++step) {
    by_hand.step();
    with_selvage.step();
  }
  int differences = count_differences(by_hand.heat(), with_selvage.heat(), n);
  MPI_Allreduce(MPI_IN_PLACE, &differences, 1, MPI_INT, MPI_SUM, context.comm());
  if (context.rank() == 0) std::printf("after %d steps %d cells differ\n", steps, differences);
  return differences == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = run(20, 50);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heat: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
