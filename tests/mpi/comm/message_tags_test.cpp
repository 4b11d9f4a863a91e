#include "context/context_state.hpp"
#include "thrown.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

namespace selvage::test {
namespace {

int largest_tag() {
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  return found ? *static_cast<int*>(value) : 32767;
}

TEST(MessageTags, AreNeverGivenTwice) {
  const Context context(MPI_COMM_WORLD);
  const int first = context.state()->take_tags(3);
  EXPECT_EQ(context.state()->take_tags(1), first + 3);
  EXPECT_EQ(context.state()->take_tags(1), first + 4);
}

TEST(MessageTags, RunOutWithAnErrorOnAllRanks) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {64}, .periodic = {true}});
  const auto u = grid.allocate<double>("u", 1);
  HaloExchange halo(Kokkos::DefaultExecutionSpace(), grid, {.width = 1}, u);
  const int first = context.state()->take_tags(1);
  // All but two.
  static_cast<void>(context.state()->take_tags(largest_tag() - first - 3));
  const std::string message = message_on_all_ranks(ErrorKind::unsupported, [&] {
    const HaloExchange another(Kokkos::DefaultExecutionSpace(), grid, {.width = 1}, u);
  });
  EXPECT_NE(message.find("message tags left of MPI's " + std::to_string(largest_tag())), std::string::npos)
      << message;
  EXPECT_NO_THROW(static_cast<void>(context.state()->take_tags(2)));
  EXPECT_TRUE(thrown_by([&] { static_cast<void>(context.state()->take_tags(1)); }));
  EXPECT_NO_THROW(halo.exchange(Kokkos::DefaultExecutionSpace(), u)) << "what was planned before goes on";
}

}  // namespace
}  // namespace selvage::test
