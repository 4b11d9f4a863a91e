// Ranks that make different things from one Context: all get the same error, and MPI never sees messages of different lengths.
#include "job.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/collectives.hpp>
#include <selvage/comm/custom_allreduce.hpp>
#include <selvage/comm/gradient_buckets.hpp>
#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>
#include <selvage/comm/list_halo.hpp>
#include <selvage/comm/migration.hpp>
#include <selvage/comm/remote_tasks.hpp>
#include <selvage/comm/tiled_allreduce.hpp>
#include <selvage/comm/trigger.hpp>
#include <selvage/comm/typed_transfer.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <regex>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using View = Kokkos::View<double*, Space>;

struct Plus {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a + b; }
};

/// What is there before ranks make something else each.
struct Before {
  Space space;
  Context context{MPI_COMM_WORLD};
  Grid<1> line{context, {.cells = {8}}};
  View view{"values", 100};
  Kokkos::View<int*, Space> none{"none", 0};
  Window window{space, context, 64};
};

struct Making {
  std::string name;
  std::function<void(const Before&)> make;
};

std::vector<Making> makings() {
  std::vector<Making> all{
      {"a Grid of 1 axis", [](const Before& b) { Grid<1>(b.context, {.cells = {8}}); }},
      {"a Grid of 2 axes",
       [](const Before& b) {
         Grid<2>(b.context, {.cells = {8, 8}});
       }},
      {"a Grid of 3 axes",
       [](const Before& b) {
         Grid<3>(b.context, {.cells = {8, 8, 8}});
       }},
      {"a HaloExchange",
       [](const Before& b) {
         const auto u = b.line.allocate<double>("u", 1);
         HaloExchange(b.space, b.line, {.width = 1}, u);
       }},
      {"a ListHalo", [](const Before& b) { ListHalo(b.space, b.context, 0, b.none, b.none); }},
      {"a Migration", [](const Before& b) { Migration(b.space, b.context); }},
      {"a TypedTransfer", [](const Before& b) { TypedTransfer(b.space, b.context, {}, {}); }},
      {"an Allreduce", [](const Before& b) { Allreduce(b.space, b.context, b.view); }},
      {"a Broadcast", [](const Before& b) { Broadcast(b.space, b.context, b.view, 0); }},
      {"a CustomAllreduce", [](const Before& b) { CustomAllreduce(b.space, b.context, b.view, Plus()); }},
      {"a TiledAllreduce", [](const Before& b) { TiledAllreduce(b.space, b.context, b.view); }},
      {"GradientBuckets",
       [](const Before& b) { GradientBuckets(b.space, b.context, GradientBuckets::Options{}, b.view); }},
      {"a Window", [](const Before& b) { Window(b.space, b.context, 64); }},
      {"Triggers", [](const Before& b) { Triggers(b.space, b.context); }},
      {"a CommandQueue",
       [](const Before& b) { CommandQueue(b.space, b.context, b.window, CommandQueue::Options{}); }},
      {"RemoteTasks", [](const Before& b) { RemoteTasks(b.space, b.context); }},
  };
  return all;
}

TEST(DifferentObjects, AreNamedOnAllRanks) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_last = rank == this_job().ranks() - 1;
  const std::vector<Making> all = makings();
  for (const Making& one : all) {
    for (const Making& other : all) {
      // A rank alone differs from nobody.
      if (&one == &other || this_job().ranks() == 1) continue;
      SCOPED_TRACE(one.name + ", on the last rank " + other.name);
      const Before before;
      const std::string message =
          message_on_all_ranks(ErrorKind::usage, [&] { (is_last ? other : one).make(before); });
      const std::string last = std::to_string(this_job().ranks() - 1);
      const std::regex both(
          "ranks don't make the same calls in the same order: rank 0 is in the construction of .+, rank " +
          last + " in the construction of .+|ranks 0 and " + last +
          " are both in the construction of .+, but with other types or other numbers of arguments");
      EXPECT_TRUE(std::regex_match(message, both)) << message;
    }
  }
}

}  // namespace
}  // namespace selvage::test
