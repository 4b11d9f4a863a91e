// A histogram shared out to ranks whose owners take no part in counting. Each rank draws numbers, collects them by the rank that owns
// their bin, and calls a task there. The task counts on a thread of the library, while the owner goes on drawing.
#include <selvage/comm/remote_tasks.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

using Space = Kokkos::DefaultHostExecutionSpace;  // tasks that are functions run on hosts
using Numbers = Kokkos::View<int*, Space::memory_space>;

constexpr int bins_per_rank = 16, numbers_per_call = 64;

int run(int draws) {
  const Space space;
  const selvage::Context context(MPI_COMM_WORLD);
  const int ranks = context.size(), first_bin = context.rank() * bins_per_rank;

  // --8<-- [start:register]
  const Kokkos::View<std::int64_t*, Space::memory_space> bins("bins", bins_per_rank);
  selvage::RemoteTasks tasks(space, context, {.payload_bytes = numbers_per_call * sizeof(int)});
  constexpr std::uint32_t count = 0;
  tasks.add(count, [bins, first_bin](const selvage::TaskPort::Message& message) {
    const auto* bin = reinterpret_cast<const int*>(message.payload);
    for (std::uint64_t i = 0; i < message.bytes / sizeof(int); ++i) ++bins(bin[i] - first_bin);
  });
  tasks.open();
  // --8<-- [end:register]
  if (!tasks.has_threads())
    throw std::runtime_error("MPI gave no MPI_THREAD_MULTIPLE, so nobody would run the tasks");

  std::mt19937 random(1 + context.rank());
  std::vector<std::int64_t> drawn(ranks * bins_per_rank);
  std::vector<Numbers> collected;
  for (int rank = 0; rank < ranks; ++rank) collected.emplace_back("collected", numbers_per_call);
  std::vector<int> sizes(ranks);
  // --8<-- [start:call]
  const auto send = [&](int target) {
    tasks.call(space, target, {.index = count},
               Kokkos::subview(collected[target], std::make_pair(0, std::exchange(sizes[target], 0))));
  };
  for (int draw = 0; draw < draws; ++draw) {
    const int bin = static_cast<int>((random() % drawn.size() + random() % drawn.size()) / 2);
    const int owner = bin / bins_per_rank;
    ++drawn[bin];
    collected[owner](sizes[owner]++) = bin;
    if (sizes[owner] == numbers_per_call) send(owner);
  }
  for (int target = 0; target < ranks; ++target) {
    send(target);
    tasks.wait(space, target);  // for what this rank has called there
  }
  MPI_Barrier(context.comm());  // and for what others have called here
  tasks.check();
  // --8<-- [end:call]

  std::vector<std::int64_t> expected(bins_per_rank);
  MPI_Reduce_scatter_block(drawn.data(), expected.data(), bins_per_rank, MPI_INT64_T, MPI_SUM,
                           context.comm());
  int wrong = 0;
  std::int64_t counted = 0;
  for (int bin = 0; bin < bins_per_rank; ++bin) {
    counted += bins(bin);
    wrong += bins(bin) == expected[bin] ? 0 : 1;
  }
  std::printf("rank %d: %lld numbers in its bins, %d bins wrong\n", context.rank(),
              static_cast<long long>(counted), wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);  // for the threads that run tasks
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = run(100'000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "histogram: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
