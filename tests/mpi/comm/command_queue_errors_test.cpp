// What a CommandQueue can't do: who hears of it, and when.
#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/trigger.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>

namespace selvage::test {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Team = Kokkos::TeamPolicy<Space>::member_type;

constexpr std::uint64_t too_many_bytes = std::uint64_t{1} << 31;

/// Runs function(team, context) in a kernel, by one team with the first ring. \return how many of its calls failed
template <class Function>
int run(const CommandQueue& queue, const Function& function) {
  int failed = 0;
  const CommandPort port = queue.device();
  Kokkos::parallel_reduce(
      "test::run", Kokkos::TeamPolicy<Space>(Space(), 1, 1),
      [=](const Team& team, int& count) { count += function(team, port.ring(0)); }, failed);
  return failed;
}

/// So whoever has waited for the command, and then asks, finds the error.
TEST(CommandQueueErrors, AreThereBeforeTheirCommandIsOver) {
  const ScopedVariable proxy("SELVAGE_PROXY", "caller");
  const Context context(MPI_COMM_WORLD);
  const Window window(Space(), context, 64 * word);
  CommandQueue queue(Space(), context, window, {.rings = 1});
  auto* const words = reinterpret_cast<std::uint64_t*>(window.data());
  const std::uint64_t& done = *queue.device().read;
  for (std::uint64_t round = 0; round < 3; ++round) {
    EXPECT_EQ(run(queue,
                  [=, rank = context.rank()](const Team& team, const CommandPort::Ring& ring) {
                    return ring.put_nbi(team, words + 64, words, word, rank) ? 0 : 1;
                  }),
              0);
    queue.progress();
    EXPECT_EQ(detail::acquire_word(done), round);
    const auto error = thrown_by([&] { queue.check(); });
    EXPECT_EQ(error ? error->message() : "", "8 bytes at offset 512 of a window of 512 bytes");
    queue.progress();
    EXPECT_EQ(detail::acquire_word(done), round + 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// The target hears nothing of it: neither of data that isn't there nor of an error that isn't its own.
TEST(CommandQueueErrors, RefuseMoreThanAMessageHoldsBeforeAnythingIsSent) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) GTEST_SKIP() << "needs two ranks";
  const ScopedVariable hosts("SELVAGE_LOGICAL_HOSTS", "2x1");
  const Context context(MPI_COMM_WORLD);
  // Nothing touches it, so the system gives no memory for it.
  const Window window(Space(), context, too_many_bytes + word);
  CommandQueue queue(Space(), context, window, {.rings = 1});
  auto* const words = reinterpret_cast<std::uint64_t*>(window.data());
  auto* const behind = words + too_many_bytes / word;
  if (context.rank() == 0) {
    EXPECT_EQ(run(queue,
                  [=](const Team& team, const CommandPort::Ring& ring) {
                    return ring.put_signal(team, words, words, too_many_bytes, behind, 5, 1) ? 0 : 1;
                  }),
              0);
    // Behind it: what was sent before comes before.
    EXPECT_EQ(run(queue,
                  [=](const Team& team, const CommandPort::Ring& ring) {
                    return ring.put_value(team, words, 6, 1) && ring.quiet(team) ? 0 : 1;
                  }),
              0);
    const auto error = thrown_by([&] { queue.check(); });
    EXPECT_EQ(error ? error->message() : "", "a message of 2147483648 bytes is more than MPI counts to");
  } else {
    EXPECT_TRUE(detail::poll_until(detail::HasReached{words, 6}, 30'000'000'000));
    EXPECT_EQ(detail::acquire_word(*behind), 0U);
    EXPECT_NO_THROW(queue.check());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace selvage::test
