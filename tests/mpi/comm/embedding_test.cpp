// What docs/embedding.md promises of objects in other people's classes and threads.
#include "space.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

/// Kernels capture the whole object, and so a copy of it.
class Smoother {
 public:
  Smoother(const Context& context, std::int64_t cells)
      : grid_(context, {.cells = {cells}, .periodic = {true}}),
        u_(grid_.allocate<double>("u", 1)),
        next_("next", u_.extent(0)),
        halo_(std::make_shared<HaloExchange>(space_, grid_, HaloOptions<1>{}, u_)) {}

  /// By global cell.
  void fill() {
    const double first = first_cell();
    Kokkos::parallel_for(
        "fill", cells(), KOKKOS_CLASS_LAMBDA(int i) { u_(i) = (first + i) * (first + i); });
  }
  void step() {
    halo_->exchange(space_, u_);
    Kokkos::parallel_for(
        "step", cells(), KOKKOS_CLASS_LAMBDA(int i) { next_(i) = 0.5 * (u_(i - 1) + u_(i + 1)); });
  }
  /// Of square numbers: half the sum of neighbours is the square, and one.
  [[nodiscard]] int wrong_away_from_the_seam(std::int64_t all) const {
    const double first = first_cell();
    int wrong = 0;
    Kokkos::parallel_reduce(
        "check", cells(),
        KOKKOS_CLASS_LAMBDA(int i, int& count) {
          const double cell = first + i;
          const bool at_seam = cell < 1 || cell > static_cast<double>(all - 2);
          count += !at_seam && next_(i) != cell * cell + 1;
        },
        wrong);
    return wrong;
  }

 private:
  /// Of index 0 of a View.
  [[nodiscard]] double first_cell() const { return static_cast<double>(grid_.box().begin[0]) - 1; }
  [[nodiscard]] Kokkos::RangePolicy<Space> cells() const {
    return {space_, 1, static_cast<std::int64_t>(u_.extent(0)) - 1};
  }

  Space space_;
  Grid<1> grid_;
  Kokkos::View<double*, Space> u_;
  Kokkos::View<double*, Space> next_;
  std::shared_ptr<HaloExchange> halo_;
};

TEST(Embedded, InAClassWhoseKernelsCaptureIt) {
  const Context context(MPI_COMM_WORLD);
  const std::int64_t cells = 10 * context.size();
  Smoother smoother(context, cells);
  Smoother copy = smoother;
  smoother.fill();
  for (Smoother* each : {&smoother, &copy, &smoother}) {
    each->step();
    EXPECT_EQ(on_all_ranks(each->wrong_away_from_the_seam(cells)), 0);
  }
}

TEST(Embedded, InAFunctionThatMovesWhatItMade) {
  const Context context(MPI_COMM_WORLD);
  const Kokkos::View<double*, Space> values("values", 100);
  Kokkos::deep_copy(values, 1.0);
  std::optional<Allreduce> kept;
  {
    Allreduce sum(Space(), context, values);
    auto pending = sum.start(Space());
    kept.emplace(std::move(sum));
    kept->finish(Space(), std::move(pending));
  }
  kept->run(Space());
  Space().fence();
  kept->check();
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(result(i), context.size() * context.size());
}

/// Threads need no order between them, but each its own communicator.
TEST(Embedded, InThreadsWithAContextEach) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (!on_host || provided < MPI_THREAD_MULTIPLE)
    GTEST_SKIP() << "takes threads that may call MPI and run kernels";
  constexpr int threads = 3;
  int wrong[threads] = {};
  std::vector<MPI_Comm> comms(threads, MPI_COMM_NULL);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      const Context context(comms[thread]);
      const Grid<1> grid(context, {.cells = {2 * context.size()}, .periodic = {true}, .reorder = false});
      const auto u = grid.allocate<double>("u", 1);
      HaloExchange halo(Space(), grid, {.width = 1}, u);
      for (int round = 0; round < 200; ++round) {
        u(1) = u(2) = 1000 * round + context.rank();
        halo.exchange(Space(), u);
        wrong[thread] += u(0) != 1000 * round + (context.rank() + context.size() - 1) % context.size();
        wrong[thread] += u(3) != 1000 * round + (context.rank() + 1) % context.size();
      }
    });
  }
  for (std::thread& each : running) each.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace selvage::test
