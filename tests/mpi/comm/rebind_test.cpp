// Halos that are given other Views.
#include "job.hpp"
#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/grid.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>
#include <utility>

namespace selvage::test {
namespace {

constexpr std::int64_t own_cells = 10;

using Line = Kokkos::View<double*, Space>;

/// A periodic line of cells, with room for whatever has as many.
class Rebound : public testing::TestWithParam<std::optional<Transport>> {
 protected:
  [[nodiscard]] HaloOptions<1> options() const { return {.width = 1, .transport = GetParam()}; }
  [[nodiscard]] auto of_grid(const std::string& label) const { return grid_.allocate<double>(label, 1); }
  [[nodiscard]] int left() const { return (context_.rank() + context_.size() - 1) % context_.size(); }
  [[nodiscard]] int right() const { return (context_.rank() + 1) % context_.size(); }

  /// Whether the neighbours' values arrive, in every round and nowhere else.
  template <class View, class Other>
  void expect_exchanges(HaloExchange& halo, const View& view, const Other& other) {
    for (int round = 0; round < 3; ++round) {
      base_ += 1000;
      Kokkos::deep_copy(view, base_ + context_.rank());
      Kokkos::deep_copy(other, -1.0);
      halo.exchange(Space(), view);
      Space().fence();
      const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
      ASSERT_EQ(values(0), base_ + left()) << round << '\n' << halo.explain();
      ASSERT_EQ(values(own_cells + 1), base_ + right()) << round << '\n' << halo.explain();
      const auto others = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), other);
      ASSERT_EQ(others(0), -1.0);
      ASSERT_EQ(others(own_cells + 1), -1.0);
    }
    halo.check();
  }

  const Context context_{MPI_COMM_WORLD};
  const Grid<1> grid_{context_,
                      {.cells = {own_cells * context_.size()}, .periodic = {true}, .reorder = false}};
  double base_ = 0;
};
// Memory that peers can't map may come and go, too, where no transport is forced.
INSTANTIATE_TEST_SUITE_P(Halos, Rebound,
                         testing::Values(std::optional<Transport>(), Transport::peer, Transport::mpi_staged),
                         [](const auto& tested) {
                           return tested.param ? std::string(to_string(*tested.param)) : "chosen";
                         });

TEST_P(Rebound, ExchangeTheViewsThatTheyWereGivenLast) {
  const auto u = of_grid("u");
  const auto v = of_grid("v");
  if (GetParam() == Transport::peer && !this_job().is_on_one_host()) GTEST_SKIP() << "peers are of one host";
  HaloExchange halo(Space(), grid_, options(), u);
  expect_exchanges(halo, u, v);
  for (int turn = 0; turn < 3; ++turn) {
    halo.rebind(Space(), v);
    expect_exchanges(halo, v, u);
    EXPECT_TRUE(thrown_by([&] { halo.exchange(Space(), u); })) << "a View from before";
    halo.rebind(Space(), u);
    expect_exchanges(halo, u, v);
  }
}

TEST(RebindOfAHalo, TakesMemoryOfAnotherKind) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {own_cells * context.size()}, .periodic = {true}, .reorder = false});
  const auto shared = grid.allocate<double>("shared", 1);
  const Line heap("heap", own_cells + 2);
  HaloExchange halo(Space(), grid, {.width = 1}, shared);
  const std::string before = halo.explain();
  halo.rebind(Space(), heap);
  EXPECT_EQ(halo.explain() != before, context.size() > 1 && on_host) << "another transport";
  Kokkos::deep_copy(heap, context.rank());
  halo.exchange(Space(), heap);
  Space().fence();
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), heap);
  EXPECT_EQ(values(own_cells + 1), (context.rank() + 1) % context.size());
  halo.rebind(Space(), shared);
  EXPECT_EQ(halo.explain(), before);
}

/// What is wrong on one rank is told on all, and the Views stay those from before.
class RebindErrors : public testing::Test {
 protected:
  template <class Function>
  void expect_refused(const Function& rebind, const std::string& what) {
    const std::string message = message_on_all_ranks(ErrorKind::usage, rebind);
    EXPECT_NE(message.find(what), std::string::npos) << message;
    Kokkos::deep_copy(u_, context_.rank());
    halo_.exchange(Space(), u_);
    Space().fence();
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u_);
    EXPECT_EQ(values(own_cells + 1), (context_.rank() + 1) % context_.size()) << what;
  }

  const Context context_{MPI_COMM_WORLD};
  const Grid<1> grid_{context_,
                      {.cells = {own_cells * context_.size()}, .periodic = {true}, .reorder = false}};
  const bool is_last_ = context_.rank() == context_.size() - 1;
  decltype(std::declval<Grid<1>>().allocate<double>("", Width<1>(1))) u_ = grid_.allocate<double>("u", 1);
  HaloExchange halo_{Space(), grid_, {.width = 1}, u_};
};

TEST_F(RebindErrors, LeaveTheViewsFromBefore) {
  const Line fits("fits", own_cells + 2);
  const Line too_long("too long", own_cells + 3);
  expect_refused([&] { halo_.rebind(Space(), is_last_ ? too_long : fits); }, "has extent 13 along axis 0");
  expect_refused([&] { halo_.rebind(Space(), fits, u_); }, "rebinds a HaloExchange of 1 View to 2");
  const Kokkos::View<double**, Space> flat("flat", own_cells + 2, 1);
  const Kokkos::View<double***, Space> solid("solid", own_cells + 2, 1, 1);
  expect_refused([&] { halo_.rebind(Space(), solid); }, "has 3 axes; this HaloExchange takes 1, or one more");
  halo_.rebind(Space(), flat);
  halo_.rebind(Space(), u_);
}

TEST_F(RebindErrors, NameTheExchangeThatIsInFlight) {
  auto pending = halo_.start(Space(), u_);
  const Line v("v", own_cells + 2);
  const std::string message = message_on_all_ranks(ErrorKind::usage, [&] { halo_.rebind(Space(), v); });
  EXPECT_NE(message.find("while its exchange of epoch 1 is in flight: finish it first"), std::string::npos)
      << message;
  halo_.finish(Space(), std::move(pending));
}

TEST_F(RebindErrors, CompareElementsBetweenNeighbours) {
  if (context_.size() == 1) GTEST_SKIP() << "nobody to differ from";
  const Kokkos::View<float*, Space> floats("floats", own_cells + 2);
  const Line doubles("doubles", own_cells + 2);
  expect_refused(
      [&] {
        if (is_last_)
          halo_.rebind(Space(), floats);
        else
          halo_.rebind(Space(), doubles);
      },
      "View 0 differs between ranks");
}

TEST_F(RebindErrors, AreToldOfPorts) {
  std::optional<HaloPort> port;
  if (!thrown_by([&] { port = halo_.device(Space(), u_); }))
    expect_refused([&] { halo_.rebind(Space(), u_); },
                   "a HaloExchange with a HaloPort, which holds addresses");
}

}  // namespace
}  // namespace selvage::test
