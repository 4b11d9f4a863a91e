#include "halo_conformance.hpp"
#include "thrown.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace selvage::test {
namespace {

using HostView = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Blocks of shared memory that this process has open.
int open_blocks() {
  int blocks = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed_meanwhile;
    const auto target = std::filesystem::read_symlink(file.path(), closed_meanwhile);
    if (target.string().starts_with("/memfd:selvage")) ++blocks;
  }
  return blocks;
}

class ViewsOfAGrid : public testing::Test {
 protected:
  [[nodiscard]] HostView allocate(const std::string& label = "u") const {
    return grid_->allocate<double, Kokkos::LayoutRight, Kokkos::HostSpace>(label, width_);
  }

  std::optional<Context> context_{MPI_COMM_WORLD};
  std::optional<Grid<2>> grid_{Grid<2>(*context_, {.cells = {40, 32}, .periodic = {true, true}})};
  Width<2> width_{{1, 2}, {2, 1}};
  int blocks_before_ = open_blocks();
};

TEST(SharedMemory, IsGivenBackOnceAndOnlyByItsContext) {
  const Context context(MPI_COMM_WORLD);
  const Context other(MPI_COMM_WORLD);
  void* block = context.allocate_shared(100);
  int elsewhere = 0;
  EXPECT_EQ(thrown_by([&] { context.deallocate_shared(&elsewhere); })->kind(), ErrorKind::usage);
  EXPECT_EQ(thrown_by([&] { other.deallocate_shared(block); })->kind(), ErrorKind::usage);
  EXPECT_NO_THROW(context.deallocate_shared(block));
  EXPECT_EQ(thrown_by([&] { context.deallocate_shared(block); })->kind(), ErrorKind::usage);
}

TEST_F(ViewsOfAGrid, AreLabelledAndCounted) {
  const HostView view = allocate("temperature");
  const HostView copy = view;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(view.label(), "temperature");
  EXPECT_EQ(view.use_count(), 2);
  EXPECT_EQ(copy.data(), view.data());
}

TEST_F(ViewsOfAGrid, GoWithTheirLastCopy) {
  HostView view = allocate();
  EXPECT_EQ(open_blocks(), blocks_before_ + 1);
  {
    const auto row = Kokkos::subview(view, 3, Kokkos::ALL);
    view = HostView();
    EXPECT_EQ(open_blocks(), blocks_before_ + 1);
    for (std::size_t i = 0; i < row.extent(0); ++i) EXPECT_EQ(row(i), 0);
    row(0) = 1;
  }
  EXPECT_EQ(open_blocks(), blocks_before_);
}

TEST_F(ViewsOfAGrid, DontPileUpWhenTheyAreTemporary) {
  for (int round = 0; round < 50; ++round) {
    const HostView view = allocate();
    EXPECT_EQ(view(0, 0), 0);
    Kokkos::deep_copy(view, round + 1);
    EXPECT_EQ(open_blocks(), blocks_before_ + 1);
  }
  EXPECT_EQ(open_blocks(), blocks_before_);
}

TEST_F(ViewsOfAGrid, OutliveTheirContext) {
  HostView view = allocate();
  view(2, 3) = 17;
  grid_.reset();
  context_.reset();
  EXPECT_EQ(view(2, 3), 17);
  Kokkos::deep_copy(view, 4);
  EXPECT_EQ(view(1, 1), 4);
  // What the Context itself had open is closed, too.
  view = HostView();
  EXPECT_LE(open_blocks(), blocks_before_);
}

TEST_F(ViewsOfAGrid, ArentGivenBackByHand) {
  const HostView view = allocate();
  const auto error = thrown_by([&] { context_->deallocate_shared(view.data()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_NE(std::string(error->what()).find("the last copy of a View of Grid::allocate gives it back"),
            std::string::npos)
      << error->what();
  view(0, 0) = 1;
}

TEST_F(ViewsOfAGrid, CanComeAndGoAfterTheirHaloExchanges) {
  const HaloCase<1> ring{"ring", {64}, {true}, 2, true};
  const Grid<1> grid(*context_, {.cells = ring.cells, .periodic = ring.periodic});
  for (int round = 0; round < 20; ++round) {
    const TestField<FieldKind<1, double, Kokkos::LayoutRight, 0>> field(grid, ring.width, Home::shared);
    HaloExchange halo(Space(), grid, {.width = ring.width}, field.view());
    fill(field, grid, ring.width, 0, round);
    halo.exchange(Space(), field.view());
    ASSERT_EQ(on_all_ranks(count_wrong(field, grid, ring, 0, round)), 0);
  }
}

}  // namespace
}  // namespace selvage::test
