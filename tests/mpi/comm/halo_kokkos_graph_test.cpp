#include "job.hpp"
#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/halo_graph.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_Graph.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

using View = Kokkos::View<double**, Kokkos::LayoutRight, Space::memory_space>;
using Round = Kokkos::View<double, Space::memory_space>;
using Cells = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>;

/// How many cells were wrong, and the first of them: round, row and column on the torus, what it held.
struct Mistakes {
  int count = 0;
  double round = 0;
  int row = 0;
  int column = 0;
  double found = 0;

  [[nodiscard]] std::string text() const {
    return std::to_string(count) + " wrong cells, the first in round " + std::to_string(round) + " at row " +
           std::to_string(row) + ", column " + std::to_string(column) + ": " + std::to_string(found);
  }
};
using MistakesView = Kokkos::View<Mistakes, Space::memory_space>;

KOKKOS_INLINE_FUNCTION double value_of(double round, int row, int column) {
  return round * 1e6 + row * 1e3 + column;
}

/// Where a View's cell (1, 1) lies on the torus, and the torus's extents.
struct Place {
  int first_row;
  int first_column;
  int rows;
  int columns;

  KOKKOS_FUNCTION int row(int i) const { return (first_row + i - 1 + rows) % rows; }
  KOKKOS_FUNCTION int column(int j) const { return (first_column + j - 1 + columns) % columns; }
};

/// Owned cells get the values of the round that the kernels count.
struct Fill {
  View field;
  Round round;
  Place place;
  KOKKOS_FUNCTION void operator()(int i, int j) const {
    field(i, j) = value_of(round(), place.row(i), place.column(j));
  }
};

/// Looks at every cell, ghosts included, and spoils the ghosts.
struct Check {
  View field;
  Round round;
  Place place;
  MistakesView mistakes;
  KOKKOS_FUNCTION void operator()(int i, int j) const {
    const double found = field(i, j);
    const int last_row = static_cast<int>(field.extent(0)) - 1;
    const int last_column = static_cast<int>(field.extent(1)) - 1;
    if (i == 0 || i == last_row || j == 0 || j == last_column) field(i, j) = -1.0;
    if (found == value_of(round(), place.row(i), place.column(j))) return;
    Mistakes& seen = mistakes();
    if (Kokkos::atomic_fetch_add(&seen.count, 1) != 0) return;
    seen.round = round();
    seen.row = place.row(i);
    seen.column = place.column(j);
    seen.found = found;
  }
};

struct Next {
  Round round;
  KOKKOS_FUNCTION void operator()(int) const { round() += 1; }
};

struct AddOne {
  Round sum;
  KOKKOS_FUNCTION void operator()(int) const { sum() += 1; }
};

bool shares_a_gpu(const Context& context) {
  for (int rank = 0; rank < context.size(); ++rank) {
    for (int other = 0; other < rank; ++other)
      if (context.machine().same_gpu(rank, other)) return true;
  }
  return false;
}

class KokkosGraph : public testing::Test {
 protected:
  [[nodiscard]] HaloExchange plan(const HaloOptions<2>& options = {.width = 1}) const {
    return {space_, grid_, options, u_, v_};
  }
  /// Ranks that share a GPU take turns on it by time slices of milliseconds; those that share cores likewise.
  [[nodiscard]] int submissions() const { return on_host || shares_a_gpu(context_) ? 200 : 1000; }

  [[nodiscard]] Cells owned_cells() const { return {space_, {1, 1}, {rows() - 1, columns() - 1}}; }
  [[nodiscard]] Cells all_cells() const { return {space_, {0, 0}, {rows(), columns()}}; }
  [[nodiscard]] Kokkos::RangePolicy<Space> once() const { return {space_, 0, 1}; }

  [[nodiscard]] Fill fill(const View& field) const { return {field, round_, place()}; }
  [[nodiscard]] Check check(const View& field) const { return {field, round_, place(), mistakes_}; }
  [[nodiscard]] Next next() const { return {round_}; }

  /// One round outside of any graph: kernels load when they are first launched.
  void run_round(HaloExchange& halo, const View& field) const {
    Kokkos::parallel_for("test::fill", owned_cells(), fill(field));
    halo.exchange(space_, field);
    Kokkos::parallel_for("test::check", all_cells(), check(field));
    Kokkos::parallel_for("test::next", once(), next());
    space_.fence();
  }

  // --8<-- [start:graph]
  /// One round as nodes of a graph. \return the last
  template <class Node>
  auto add_round(const Node& node, HaloExchange& halo, const View& field) const {
    const auto filled = node.then_parallel_for("test::fill", owned_cells(), fill(field));
    return then_exchange(space_, filled, halo, field)
        .then_parallel_for("test::check", all_cells(), check(field))
        .then_parallel_for("test::next", once(), next());
  }
  // --8<-- [end:graph]

  void expect_exact(const HaloExchange& halo, double rounds) const {
    space_.fence();
    EXPECT_NO_THROW(halo.check());
    Mistakes mistakes;
    Kokkos::deep_copy(mistakes, mistakes_);
    EXPECT_EQ(mistakes.count, 0) << mistakes.text() << "\n" << halo.explain();
    EXPECT_EQ(value(round_), rounds) << "rounds that ran";
  }
  [[nodiscard]] static double value(const Round& view) {
    double result = -1;
    Kokkos::deep_copy(result, view);
    return result;
  }

  const Space space_;
  const Context context_{MPI_COMM_WORLD};
  const Grid<2> grid_{
      context_,
      {.cells = {3 * context_.size(), 61}, .periodic = {true, true}, .ranks = {context_.size(), 1}}};
  const View u_{grid_.allocate<double, Kokkos::LayoutRight>("u", 1)};
  const View v_{grid_.allocate<double, Kokkos::LayoutRight>("v", 1)};

 private:
  [[nodiscard]] int rows() const { return static_cast<int>(u_.extent(0)); }
  [[nodiscard]] int columns() const { return static_cast<int>(u_.extent(1)); }
  [[nodiscard]] Place place() const {
    return {static_cast<int>(grid_.box().begin[0]), static_cast<int>(grid_.box().begin[1]),
            static_cast<int>(grid_.cells()[0]), static_cast<int>(grid_.cells()[1])};
  }

  const Round round_{"round"};
  const MistakesView mistakes_{"mistakes"};
};

/// Two exchanges per submission, of alternating Views, and host calls between submissions.
TEST_F(KokkosGraph, ExchangesBetweenItsKernelsInEachSubmission) {
  HaloExchange halo = plan();
  run_round(halo, u_);
  run_round(halo, v_);
  auto graph = Kokkos::Experimental::create_graph(space_, [&](const auto& root) {
    const auto first = add_round(root, halo, u_);
    add_round(first, halo, v_);
  });
  const int count = submissions();
  for (int submission = 0; submission < count; ++submission) graph.submit();
  expect_exact(halo, 2.0 * count + 2);
  run_round(halo, u_);
  for (int submission = 0; submission < count; ++submission) graph.submit();
  expect_exact(halo, 4.0 * count + 3);
}

/// A branch beside the exchange, and one node that needs both.
TEST_F(KokkosGraph, RunsAnExchangeBesideABranch) {
  HaloExchange halo = plan();
  run_round(halo, u_);
  const Round sum("sum");
  auto graph = Kokkos::Experimental::create_graph(space_, [&](const auto& root) {
    const auto filled = root.then_parallel_for("test::fill", owned_cells(), fill(u_));
    const auto beside = filled.then_parallel_for("test::add", once(), AddOne{sum});
    const auto exchanged = then_exchange(space_, filled, halo, u_);
    Kokkos::Experimental::when_all(beside, exchanged)
        .then_parallel_for("test::check", all_cells(), check(u_))
        .then_parallel_for("test::next", once(), next());
  });
  const int count = submissions();
  for (int submission = 0; submission < count; ++submission) graph.submit();
  expect_exact(halo, count + 1.0);
  EXPECT_EQ(value(sum), count);
}

/// Two of three Views at once, a set that no exchange before has prepared.
TEST_F(KokkosGraph, ExchangesSeveralViewsInOneNode) {
  const View w = grid_.allocate<double, Kokkos::LayoutRight>("w", 1);
  HaloExchange halo(space_, grid_, {.width = 1}, w, u_, v_);
  halo.exchange(space_, u_);
  halo.exchange(space_, v_);
  auto graph = Kokkos::Experimental::create_graph(space_, [&](const auto& root) {
    const auto filled = root.then_parallel_for("test::fill", owned_cells(), fill(u_))
                            .then_parallel_for("test::fill", owned_cells(), fill(v_));
    then_exchange(space_, filled, halo, u_, v_)
        .then_parallel_for("test::check", all_cells(), check(u_))
        .then_parallel_for("test::check", all_cells(), check(v_))
        .then_parallel_for("test::next", once(), next());
  });
  const int count = submissions() / 10;
  for (int submission = 0; submission < count; ++submission) graph.submit();
  expect_exact(halo, count);
}

struct Carrier {
  std::string name;
  Transport transport;
  std::optional<Initiation> initiation = {};
};
std::string name_of_carrier(const testing::TestParamInfo<Carrier>& tested) {
  return tested.param.name;
}

/// On a GPU a node is captured, so what needs the host can't be one; a rank alone exchanges by a copy. On hosts every
/// exchange is a node.
bool can_be_captured(const Carrier& carrier) {
  return on_host || this_job().ranks() == 1 ||
         (carrier.initiation != Initiation::host &&
          (carrier.transport == Transport::peer || carrier.transport == Transport::copy_engine));
}
/// Those that every MPI and machine has.
std::vector<Carrier> carriers(bool captured) {
  std::vector<Carrier> all{{"mpi_staged", Transport::mpi_staged}};
  if (this_job().is_on_one_host()) {
    all.push_back({"peer", Transport::peer});
    all.push_back({"peer_host", Transport::peer, Initiation::host});
    if (!on_host) all.push_back({"copy_engine", Transport::copy_engine});
  }
  return cases_where(all, [&](const Carrier& carrier) { return can_be_captured(carrier) == captured; });
}

class KokkosGraphOf : public KokkosGraph, public testing::WithParamInterface<Carrier> {
 protected:
  [[nodiscard]] HaloExchange plan_it() const {
    HaloOptions<2> options{.width = 1, .transport = GetParam().transport};
    options.initiation = GetParam().initiation;
    return plan(options);
  }
};
class KokkosGraphRefusal : public KokkosGraphOf {};

TEST_P(KokkosGraphOf, ACarrierExchangesBetweenItsKernels) {
  HaloExchange halo = plan_it();
  run_round(halo, u_);
  auto graph =
      Kokkos::Experimental::create_graph(space_, [&](const auto& root) { add_round(root, halo, u_); });
  const int count = submissions() / 10;
  for (int submission = 0; submission < count; ++submission) graph.submit();
  expect_exact(halo, count + 1.0);
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KokkosGraphOf);
INSTANTIATE_TEST_SUITE_P(EveryCarrier, KokkosGraphOf, testing::ValuesIn(carriers(true)), name_of_carrier);

TEST_P(KokkosGraphRefusal, SaysWhatCannotBeCaptured) {
  HaloExchange halo = plan_it();
  const std::string message = message_on_all_ranks(ErrorKind::unsupported, [&] {
    const auto graph = Kokkos::Experimental::create_graph(
        space_, [&](const auto& root) { then_exchange(space_, root, halo, u_); });
  });
  EXPECT_NE(message.find("can be captured"), std::string::npos) << message;
  run_round(halo, u_);
  expect_exact(halo, 1.0);
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KokkosGraphRefusal);
INSTANTIATE_TEST_SUITE_P(EveryCarrier, KokkosGraphRefusal, testing::ValuesIn(carriers(false)),
                         name_of_carrier);

/// Three on a host of one kind or another; of GPUs, two of four can be captured where there are several.
TEST(KokkosGraphCarriers, AreAsManyAsStated) {
  const bool is_alone = this_job().ranks() == 1;
  const LeastCases captured{.on_one_host = 3,
                            .on_several_hosts = 1,
                            .on_gpus_of_one_host = is_alone ? 4U : 2U,
                            .on_gpus_of_several_hosts = 0};
  EXPECT_EQ(carriers(true).size(), captured.here(!on_host));
  const LeastCases refused{.on_one_host = 0,
                           .on_several_hosts = 0,
                           .on_gpus_of_one_host = is_alone ? 0U : 2U,
                           .on_gpus_of_several_hosts = 1};
  EXPECT_EQ(carriers(false).size(), refused.here(!on_host));
}

}  // namespace
}  // namespace selvage::test
