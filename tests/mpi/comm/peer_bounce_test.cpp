#include "halo_fixture.hpp"
#include "links/peer_routes.hpp"

#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace selvage {
namespace {

/// Doubles of one column that fill the bounce block exactly.
constexpr std::int64_t limit_cells = detail::bounce_bytes_on_host / static_cast<std::int64_t>(sizeof(double));

using test::FieldKind;
using Doubles = test::TestField<FieldKind<2, double, Kokkos::LayoutRight, 0>>;
using Floats = test::TestField<FieldKind<2, float, Kokkos::LayoutRight, 0>>;
using Triples = test::TestField<FieldKind<2, std::int16_t, Kokkos::LayoutRight, 3>>;

/// Columns between ranks side by side, and three Views that bounce, or don't, in one exchange.
class BouncingColumns : public testing::TestWithParam<std::int64_t> {
 protected:
  BouncingColumns()
      : halo_{"columns", {GetParam(), 3 * context_.size()}, {false, true}, {{0, 0}, {1, 1}}, false},
        grid_(context_, {.cells = halo_.cells, .periodic = halo_.periodic, .ranks = {1, context_.size()}}) {}

  const Context context_{MPI_COMM_WORLD};
  const test::HaloCase<2> halo_;
  const Grid<2> grid_;
};

TEST_P(BouncingColumns, ArriveWholeAroundTheLimitInBothDirections) {
  const Doubles doubles(grid_, halo_.width, test::Home::shared);
  const Floats floats(grid_, halo_.width, test::Home::shared);
  const Triples triples(grid_, halo_.width, test::Home::shared);
  HaloExchange halo(test::Space(), grid_, {.width = halo_.width, .corners = false}, doubles.view(),
                    floats.view(), triples.view());
  // Four rounds: landing blocks of both parities, twice.
  for (int round = 0; round < 4; ++round) {
    test::fill(doubles, grid_, halo_.width, 0, round);
    test::fill(floats, grid_, halo_.width, 1, round);
    test::fill(triples, grid_, halo_.width, 2, round);
    halo.exchange(test::Space(), triples.view(), doubles.view(), floats.view());
    Kokkos::fence("test::exchanged");
    const int wrong = test::count_wrong(doubles, grid_, halo_, 0, round) +
                      test::count_wrong(floats, grid_, halo_, 1, round) +
                      test::count_wrong(triples, grid_, halo_, 2, round);
    ASSERT_EQ(test::on_all_ranks(wrong), 0) << "round " << round << "\n" << halo.explain();
  }
}

// With one neighbour on both sides a field holds two columns, so that half the cells reach the limit.
INSTANTIATE_TEST_SUITE_P(Cells, BouncingColumns,
                         testing::Values(limit_cells / 2, limit_cells / 2 + 1, limit_cells, limit_cells + 1),
                         [](const auto& tested) { return std::to_string(tested.param); });

}  // namespace

namespace detail {
namespace {

/// Where a copy reads or writes: from its first byte to one past its last.
struct Reach {
  const std::byte* begin;
  const std::byte* end;
  [[nodiscard]] bool inside(const std::byte* block, std::int64_t bytes) const {
    return begin >= block && end <= block + bytes;
  }
};

Reach reach(const CopyBox& box, const std::byte* data, const std::array<std::int64_t, 4>& strides) {
  std::int64_t last = box.element_bytes;
  for (int axis = 0; axis < 4; ++axis) last += (box.extents[axis] - 1) * strides[axis];
  return {data, data + last};
}
Reach writes(const CopyBox& box) {
  return reach(box, box.target, box.target_strides);
}
Reach reads(const CopyBox& box) {
  return reach(box, box.source, box.source_strides);
}

/// The routes of several Views of one column each, to and from a made-up peer.
class ColumnRoutes {
 public:
  /// \param components  of a cell, per View
  ColumnRoutes(std::int64_t rows, const std::vector<std::int64_t>& components, bool on_shared_gpu = false) {
    const Region owned{.begin = {0, 1, 0, 0}, .extents = {rows, 1, 1, 1}};
    const Region ghost{.begin = {0, 0, 0, 0}, .extents = {rows, 1, 1, 1}};
    plan_.neighbour = {1, {{centre - 3, owned, ghost, ghost}}};
    for (const std::int64_t count : components) add_field(rows, count);
    for (auto* landing : {&sent_, &landed_}) landing->resize(8 * bounce_bytes_on_host);
    remote_.ghosts_blocks = {sent_.data(), sent_.data()};
    own_.ghosts_blocks = {landed_.data(), landed_.data()};
    const TransportParts parts{.context = *context_.state(),
                               .executor = executor_,
                               .fields = fields_,
                               .axes = 2,
                               .peers = {},
                               .ghost_reuse = GhostReuse::credit,
                               .initiation = Initiation::stream,
                               .first_tag = 0};
    const RouteRules rules =
        on_shared_gpu ? RouteRules{.direct_run_bytes = direct_run_bytes_on_device,
                                   .scattered_bytes = scattered_bytes_on_shared_device}
                      : RouteRules{.direct_run_bytes = direct_run_bytes_on_host, .bounce = bounce_.data()};
    routes_ = make_routes(parts, plan_, remote_, own_, rules);
  }

  [[nodiscard]] bool stores_in_place(std::size_t field) const { return routes_.unpacks[0][field].empty(); }
  [[nodiscard]] bool bounces(std::size_t field) const { return !routes_.packs[field].empty(); }

  /// Every copy to or from the bounce block stays within it, and it goes on with what came before.
  void expect_inside(std::size_t field) const {
    for (const CopyBox& box : routes_.packs[field])
      EXPECT_TRUE(writes(box).inside(bounce_.data(), bounce_bytes_on_host)) << "pack of field " << field;
    for (int parity = 0; parity < 2; ++parity) {
      for (const CopyBox& box : routes_.fetches[parity][field])
        EXPECT_TRUE(writes(box).inside(bounce_.data(), bounce_bytes_on_host)) << "fetch of field " << field;
      ASSERT_EQ(routes_.puts[parity][field].size(), 1U);
      ASSERT_EQ(routes_.unpacks[parity][field].size(), 1U);
      EXPECT_EQ(reads(routes_.puts[parity][field][0]).inside(bounce_.data(), bounce_bytes_on_host),
                bounces(field));
      EXPECT_EQ(reads(routes_.unpacks[parity][field][0]).inside(bounce_.data(), bounce_bytes_on_host),
                bounces(field));
      EXPECT_TRUE(writes(routes_.puts[parity][field][0])
                      .inside(sent_.data(), static_cast<std::int64_t>(sent_.size())));
    }
  }

 private:
  void add_field(std::int64_t rows, std::int64_t components) {
    Field field;
    field.rank = 3;
    field.element_bytes = sizeof(double);
    field.extents = {rows, 3, components, 1};
    field.strides = {3 * components * 8, components * 8, 8, 0};
    fields_.push_back(field);
    FieldCard card;
    card.strides = field.strides;
    card.element_bytes = field.element_bytes;
    plan_.cards.push_back(card);
    remote_.fields.push_back(nullptr);
  }

  Context context_{MPI_COMM_WORLD};
  KokkosExecutor<Kokkos::DefaultHostExecutionSpace> executor_{Kokkos::DefaultHostExecutionSpace()};
  std::vector<Field> fields_;
  PeerPlan plan_;
  std::vector<std::byte> sent_;
  std::vector<std::byte> landed_;
  std::vector<std::byte> bounce_ = std::vector<std::byte>(bounce_bytes_on_host);
  PeerMemory remote_;
  OwnMemory own_;
  Routes routes_;
};

TEST(PeerRoutes, BounceAFieldThatFillsTheBlock) {
  const ColumnRoutes routes(limit_cells, {1});
  EXPECT_TRUE(routes.bounces(0));
  routes.expect_inside(0);
}

TEST(PeerRoutes, DontBounceOneElementMore) {
  const ColumnRoutes routes(limit_cells + 1, {1});
  EXPECT_FALSE(routes.bounces(0));
  routes.expect_inside(0);
}

TEST(PeerRoutes, UseTheBlockAfreshForEachField) {
  const ColumnRoutes routes(limit_cells / 2, {1, 2, 3, 1, 2});
  for (const std::size_t field : {0, 1, 3, 4}) {
    EXPECT_TRUE(routes.bounces(field)) << field;
    routes.expect_inside(field);
  }
  EXPECT_FALSE(routes.bounces(2));
  routes.expect_inside(2);
}

TEST(PeerRoutes, PackOnASharedGpuWhatIsLargeAndScattered) {
  constexpr std::int64_t cells = scattered_bytes_on_shared_device / static_cast<std::int64_t>(sizeof(double));
  EXPECT_TRUE(ColumnRoutes(cells, {1}, true).stores_in_place(0));
  const ColumnRoutes larger(cells + 1, {1, 3, 4}, true);
  EXPECT_FALSE(larger.stores_in_place(0));
  EXPECT_FALSE(larger.stores_in_place(1));
  EXPECT_TRUE(larger.stores_in_place(2)) << "a sector each";
}

}  // namespace
}  // namespace detail
}  // namespace selvage
