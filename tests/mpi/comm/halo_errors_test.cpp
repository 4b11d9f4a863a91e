#include "thrown.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <string>
#include <utility>

namespace selvage::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class HaloErrors : public testing::Test {
 protected:
  HaloErrors()
      : grid_(context_,
              {.cells = {6 * context_.size() + 1, 10}, .ranks = {context_.size(), 1}, .reorder = false}) {}

  /// After an error on all ranks, the next HaloExchange works.
  ~HaloErrors() override {
    const auto view = grid_.allocate<double>("after", 1);
    HaloExchange halo(Space(), grid_, {.width = 1}, view);
    EXPECT_NO_THROW(halo.exchange(Space(), view));
  }

  template <class... Views>
  std::string refusal(ErrorKind kind, const HaloOptions<2>& options, const Views&... views) const {
    return message_on_all_ranks(kind, [&] { const HaloExchange halo(Space(), grid_, options, views...); });
  }
  [[nodiscard]] bool last() const { return grid_.rank() == grid_.size() - 1; }
  [[nodiscard]] std::string last_rank() const { return "rank " + std::to_string(grid_.size() - 1); }
  [[nodiscard]] bool alone() const { return grid_.size() == 1; }

  const Context context_{MPI_COMM_WORLD};
  const Grid<2> grid_;
};

TEST_F(HaloErrors, ReachAllRanksWhenExtentsAreWrongOnOne) {
  if (alone()) GTEST_SKIP() << "for several ranks";
  const auto view = grid_.allocate<double>("u", last() ? 2 : 1);
  const std::string message = refusal(ErrorKind::usage, {.width = 1}, view);
  EXPECT_TRUE(contains(message, " on rank " + std::to_string(grid_.size() - 1) +
                                    " has extent 10 along axis 0; its box of 6 cells with ghosts of 1 and 1 "
                                    "needs 8"))
      << message;
}

TEST_F(HaloErrors, ReachAllRanksWhereOptionsDontSuitAGridOfBoxes) {
  const std::int64_t part = 8 / grid_.size();
  const Box<1> own{.begin = {grid_.rank() * part}, .end = {last() ? 8 : (grid_.rank() + 1) * part}};
  const Grid<1> boxes(context_, {.cells = {8}, .periodic = {true}}, own);
  const auto view = boxes.allocate<double>("u", 1);
  const auto message_of = [&](ErrorKind kind, const HaloOptions<1>& options) {
    return message_on_all_ranks(kind, [&] { const HaloExchange halo(Space(), boxes, options, view); });
  };
  const std::string on_last = alone() ? "" : " (on " + last_rank() + ")";
  EXPECT_TRUE(contains(message_of(ErrorKind::unsupported, {.width = 1, .corners = !last()}),
                       "corners = false is for process grids" + on_last));
  EXPECT_EQ(message_of(ErrorKind::usage, {.width = last() ? 9 : 1}),
            "a halo of 9 cells is wider than a periodic grid of 8 along axis 0" + on_last);
}

TEST_F(HaloErrors, NameTheViewWithItsLabelWhereItHasOne) {
  const auto good = grid_.allocate<double>("u", 1);
  const Kokkos::View<double**> bad("pressure", 3, 12);
  const std::string message = refusal(ErrorKind::usage, {.width = 1}, good, bad);
  EXPECT_TRUE(contains(message, "View 1 (\"pressure\") on rank 0 has extent 3 along axis 0")) << message;
}

TEST_F(HaloErrors, SayWhichBoxAHaloIsWiderThan) {
  const auto wide = grid_.allocate<double>("u", {{7, 0}, {0, 0}});
  if (alone()) {
    EXPECT_NO_THROW(HaloExchange(Space(), grid_, {.width = {{7, 0}, {0, 0}}}, wide)) << "nobody fills it";
    return;
  }
  const std::string message =
      refusal(ErrorKind::usage, {.width = {{8, 0}, {0, 0}}}, grid_.allocate<double>("u", {{8, 0}, {0, 0}}));
  EXPECT_TRUE(contains(message, "a halo of 8 cells is wider than the box of rank")) << message;
  EXPECT_TRUE(contains(message, "along axis 0")) << message;
}

TEST_F(HaloErrors, AllowAHaloAsWideAsTheBox) {
  const Grid<1> ring(context_, {.cells = {5 * context_.size()}, .periodic = {true}});
  const auto view = ring.allocate<double>("u", 5);
  EXPECT_NO_THROW(HaloExchange(Space(), ring, {.width = 5}, view).exchange(Space(), view));
  message_on_all_ranks(ErrorKind::usage, [&] {
    const HaloExchange halo(Space(), ring, {.width = 6}, ring.allocate<double>("u", 6));
  });
}

TEST_F(HaloErrors, NameBothRanksWhoseWidthsDiffer) {
  if (alone()) GTEST_SKIP() << "nobody to differ from";
  const Width<2> width = last() ? 2 : 1;
  EXPECT_EQ(refusal(ErrorKind::usage, {.width = width}, grid_.allocate<double>("u", width)),
            "ranks disagree on the halo width of one HaloExchange: 1 on rank 0, 2 on " + last_rank());
}

TEST_F(HaloErrors, NameBothRanksWhoseOptionsDiffer) {
  if (alone()) GTEST_SKIP() << "nobody to differ from";
  const auto view = grid_.allocate<double>("u", 1);
  EXPECT_TRUE(contains(refusal(ErrorKind::usage, {.width = 1, .corners = !last()}, view), "option corners"));
  const GhostReuse reuse = last() ? GhostReuse::credit : GhostReuse::alternating;
  EXPECT_TRUE(
      contains(refusal(ErrorKind::usage, {.width = 1, .ghost_reuse = reuse}, view), "option ghost_reuse"));
  const Initiation initiation = last() ? Initiation::host : Initiation::stream;
  const std::string message = refusal(ErrorKind::usage, {.width = 1, .initiation = initiation}, view);
  EXPECT_TRUE(contains(message, "initiation of one HaloExchange: host on " + last_rank())) << message;
}

TEST_F(HaloErrors, CountTheViewsOfEachRank) {
  if (alone()) GTEST_SKIP() << "nobody to differ from";
  const auto u = grid_.allocate<double>("u", 1);
  const auto v = grid_.allocate<double>("v", 1);
  const std::string message = message_on_all_ranks(ErrorKind::usage, [&] {
    if (last()) {
      const HaloExchange halo(Space(), grid_, {.width = 1}, u, v);
    } else {
      const HaloExchange halo(Space(), grid_, {.width = 1}, u);
    }
  });
  EXPECT_EQ(message,
            "ranks disagree on the number of Views of one HaloExchange: 1 on rank 0, 2 on " + last_rank());
}

TEST_F(HaloErrors, CompareElementsAndComponentsBetweenNeighbours) {
  if (alone()) GTEST_SKIP() << "nobody to differ from";
  const std::string components =
      refusal(ErrorKind::usage, {.width = 1}, grid_.allocate<double>("u", 1, last() ? 3 : 2));
  EXPECT_TRUE(contains(components, "View 0 differs between ranks: 2 x 8 bytes per cell on rank " +
                                       std::to_string(grid_.size() - 2) + ", 3 x 8 on " + last_rank()))
      << components;
  const std::string elements = message_on_all_ranks(ErrorKind::usage, [&] {
    if (last()) {
      const HaloExchange halo(Space(), grid_, {.width = 1}, grid_.allocate<float>("u", 1));
    } else {
      const HaloExchange halo(Space(), grid_, {.width = 1}, grid_.allocate<double>("u", 1));
    }
  });
  EXPECT_TRUE(contains(elements, "1 x 8 bytes per cell")) << elements;
}

TEST_F(HaloErrors, RefuseOneViewGivenTwice) {
  const auto u = grid_.allocate<double>("u", 1);
  const auto v = grid_.allocate<double>("v", 1);
  EXPECT_EQ(refusal(ErrorKind::usage, {.width = 1}, u, v, u),
            "Views 0 and 2 of one HaloExchange are the same memory");
}

/// As a View that was never allocated, or whose memory the caller manages and has not given yet.
TEST_F(HaloErrors, RefuseAViewWithoutMemory) {
  using Unmanaged = Kokkos::View<double**, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto u = grid_.allocate<double>("u", 1);
  const Unmanaged nothing(static_cast<double*>(nullptr), u.extent(0), u.extent(1));
  const std::string message = refusal(ErrorKind::usage, {.width = 1}, u, nothing);
  EXPECT_TRUE(contains(message, "View 1 on rank 0 has no memory")) << message;
}

TEST_F(HaloErrors, RefuseANegativeWidth) {
  EXPECT_EQ(refusal(ErrorKind::usage, {.width = {{1, 1}, {-1, 1}}}, grid_.allocate<double>("u", 1)),
            "a halo width of -1 and 1 cells is negative");
}

template <std::size_t... Index>
auto with_views(const Grid<2>& grid, std::index_sequence<Index...>) {
  const std::array views{grid.allocate<double>("u" + std::to_string(Index), 1)...};
  HaloExchange halo(Space(), grid, {.width = 1}, views[Index]...);
  halo.exchange(Space(), views[Index]...);
  halo.exchange(Space(), views[sizeof...(Index) - 1]);
  return halo.bytes_per_exchange();
}

TEST_F(HaloErrors, RefuseMoreThan64Views) {
  std::int64_t bytes = 0;
  EXPECT_NO_THROW(bytes = with_views(grid_, std::make_index_sequence<64>{}));
  EXPECT_EQ(bytes > 0, !alone());
  const std::string message = message_on_all_ranks(
      ErrorKind::usage, [&] { static_cast<void>(with_views(grid_, std::make_index_sequence<65>{})); });
  EXPECT_EQ(message, "65 Views in one HaloExchange: at most 64");
}

TEST(ContextErrors, NameABadTimeoutOnAllRanks) {
  for (const char* value : {"0", "-1", "soon", "86400001"}) {
    const ScopedVariable timeout("SELVAGE_TIMEOUT_MS", value);
    EXPECT_EQ(message_on_all_ranks(ErrorKind::input, [] { const Context context(MPI_COMM_WORLD); }),
              "SELVAGE_TIMEOUT_MS=" + std::string(value) + " is not a whole number from 1 to 86400000");
  }
}

TEST(ContextErrors, NameBadLogicalHostsOnAllRanks) {
  for (const char* value : {"2", "0x0", "twoxtwo", "9x9"}) {
    const ScopedVariable hosts("SELVAGE_LOGICAL_HOSTS", value);
    const std::string message =
        message_on_all_ranks(ErrorKind::input, [] { const Context context(MPI_COMM_WORLD); });
    EXPECT_TRUE(contains(message, "SELVAGE_LOGICAL_HOSTS")) << message;
  }
}

}  // namespace
}  // namespace selvage::test
