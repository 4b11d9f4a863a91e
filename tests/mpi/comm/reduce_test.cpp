#include "halo_conformance.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

// What the operations of halos are, written out for the oracle.
struct Sum {
  static constexpr ReduceOperation name = ReduceOperation::sum;
  template <class T>
  T operator()(const T& owned, const T& ghost) const {
    return owned + ghost;
  }
};
struct Product {
  static constexpr ReduceOperation name = ReduceOperation::product;
  template <class T>
  T operator()(const T& owned, const T& ghost) const {
    return owned * ghost;
  }
};
struct Min {
  static constexpr ReduceOperation name = ReduceOperation::min;
  template <class T>
  T operator()(const T& owned, const T& ghost) const {
    return std::min(owned, ghost);
  }
};
struct Max {
  static constexpr ReduceOperation name = ReduceOperation::max;
  template <class T>
  T operator()(const T& owned, const T& ghost) const {
    return std::max(owned, ghost);
  }
};

template <class Operation, class View>
void reduce(HaloExchange& halo, const Operation& operation, const View& view) {
  if constexpr (requires { Operation::name; }) {
    halo.reduce(Space(), Operation::name, view);
  } else {
    halo.reduce(Space(), operation, view);
  }
}

/// What every cell of every rank's View holds before a reduction, ghosts included.
template <class T>
struct Value;
template <>
struct Value<int> {
  /// -2, -1, 1 or 2: a product of 27 of them fits.
  static int of(int rank, std::int64_t offset, int round) {
    const int mixed = static_cast<int>((rank * 7919 + offset * 31 + round * 17) % 4);
    return mixed < 2 ? mixed - 2 : mixed - 1;
  }
};
template <>
struct Value<double> {
  /// Sums and products of these depend on their order.
  static double of(int rank, std::int64_t offset, int round) {
    const auto mixed = static_cast<double>((rank * 7919 + offset * 104729 + round * 31) % 1009);
    return (mixed - 504.0) * std::pow(10.0, static_cast<double>((offset + rank) % 9) - 4.0) + 0.1;
  }
};
template <>
struct Value<Kokkos::complex<double>> {
  static Kokkos::complex<double> of(int rank, std::int64_t offset, int round) {
    return {Value<double>::of(rank, offset, round), Value<double>::of(rank + 3, offset, round)};
  }
};

template <int D>
std::int64_t offset_of(const Index& index, const Index& extents) {
  return ((index[0] * extents[1] + index[1]) * extents[2] + index[2]) * extents[3] + index[3];
}

/// The number of the direction in which an owner sees a ghost's keeper; reductions fold in this order.
template <int D>
int owners_direction(const std::array<int, D>& ghost_direction) {
  int number = 0;
  int scale = 1;
  for (int axis = 0; axis < 3; ++axis, scale *= 3) {
    number += ((axis < D ? -ghost_direction[axis] : 0) + 1) * scale;
  }
  return number;
}

/// The same Views on all ranks and the reduction, cell by cell, without any of the library's plans.
template <class Kind>
class Oracle {
  static constexpr int D = Kind::D;
  using T = typename Kind::T;

 public:
  Oracle(const Grid<D>& grid, const HaloCase<D>& halo) : grid_(grid), halo_(halo) {}

  template <class Operation>
  [[nodiscard]] std::vector<T> owned_after(const Operation& operation, int round) const {
    std::map<Index, std::map<int, T>> contributions;
    for (int rank = 0; rank < grid_.size(); ++rank) collect(rank, round, contributions);
    const Index extents = extents_of(grid_.rank());
    std::vector<T> result(extents[0] * extents[1] * extents[2] * extents[3]);
    for_each_index(extents, [&](const Index& index) {
      const std::int64_t offset = offset_of<D>(index, extents);
      T value = Value<T>::of(grid_.rank(), offset, round);
      for (const auto& [direction, other] : contributions[index]) value = operation(value, other);
      result[offset] = value;
    });
    return result;
  }

  [[nodiscard]] Index extents_of(int rank) const {
    Index extents{1, 1, 1, 1};
    for (int axis = 0; axis < D; ++axis)
      extents[axis] = grid_.box_of(rank).extent(axis) + halo_.width[axis].low + halo_.width[axis].high;
    if (Kind::components > 0) extents[D] = Kind::components;
    return extents;
  }

 private:
  /// Ghosts of `rank` whose owner is this rank, by the owner's View index.
  void collect(int rank, int round, std::map<Index, std::map<int, T>>& contributions) const {
    const Box<D> theirs = grid_.box_of(rank);
    const Box<D> mine = grid_.box();
    const Index extents = extents_of(rank);
    for_each_index(extents, [&](const Index& index) {
      std::array<int, D> direction{};
      Index owned = index;
      int steps = 0;
      for (int axis = 0; axis < D; ++axis) {
        const std::int64_t local = index[axis] - halo_.width[axis].low;
        direction[axis] = local < 0 ? -1 : local >= theirs.extent(axis) ? 1 : 0;
        steps += direction[axis] != 0 ? 1 : 0;
        const std::int64_t all = grid_.cells()[axis];
        const std::int64_t cell = ((theirs.begin[axis] + local) % all + all) % all;
        owned[axis] = cell - mine.begin[axis] + halo_.width[axis].low;
      }
      if (steps == 0 || (steps > 1 && !halo_.corners)) return;
      if (grid_.neighbour_of(rank, direction) != grid_.rank()) return;
      contributions[owned][owners_direction<D>(direction)] =
          Value<T>::of(rank, offset_of<D>(index, extents), round);
    });
  }

  Grid<D> grid_;
  HaloCase<D> halo_;
};

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Fills a View on all ranks, reduces, and compares every element with the oracle, bit by bit.
template <class Kind, class Operation>
int wrong_after_reduce(HaloExchange& halo, const TestField<Kind>& field, const Oracle<Kind>& oracle, int rank,
                       const Operation& operation, int round) {
  using T = typename Kind::T;
  const Index extents = field.extents();
  const auto image = field.host();
  for_each_index(extents, [&](const Index& index) {
    element(image, index) = Value<T>::of(rank, offset_of<Kind::D>(index, extents), round);
  });
  field.to_device();
  reduce(halo, operation, field.view());
  Space().fence();
  field.to_host();
  const std::vector<T> expected = oracle.owned_after(operation, round);
  int wrong = 0;
  for_each_index(extents, [&](const Index& index) {
    if (!same_bits(element(image, index), expected[offset_of<Kind::D>(index, extents)])) ++wrong;
  });
  return on_all_ranks(wrong);
}

template <class Kind, class... Operations>
void expect_reductions(const HaloCase<Kind::D>& halo_case, const Operations&... operations) {
  SCOPED_TRACE(halo_case.name);
  const Context context(MPI_COMM_WORLD);
  const Grid<Kind::D> grid(
      context, {.cells = halo_case.cells, .periodic = halo_case.periodic, .ranks = halo_case.ranks});
  const TestField<Kind> field(grid, halo_case.width, Home::shared);
  const Oracle<Kind> oracle(grid, halo_case);
  for (const Transport transport : carrying_transports()) {
    if (is_refused(context, transport)) continue;
    HaloExchange halo(Space(), grid,
                      {.width = halo_case.width, .corners = halo_case.corners, .transport = transport},
                      field.view());
    int round = 0;
    const auto reduce = [&](const auto& operation) {
      for (int repeat = 0; repeat < 2; ++repeat, ++round) {
        EXPECT_EQ(wrong_after_reduce(halo, field, oracle, grid.rank(), operation, round), 0)
            << to_string(transport) << ", round " << round;
      }
    };
    (reduce(operations), ...);
  }
}

/// Each cell of such a box is a ghost in all 26 directions.
HaloCase<3> as_wide_as_the_box() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  HaloCase<3> halo_case{"as_wide_as_the_box", {}, {true, true, true}, 3, true};
  halo_case.ranks = size % 8 == 0 ? std::array{size / 4, 2, 2} : std::array{size, 1, 1};
  for (int axis = 0; axis < 3; ++axis) halo_case.cells[axis] = 3 * halo_case.ranks[axis];
  return halo_case;
}

const std::vector<HaloCase<3>>& cases() {
  static const std::vector<HaloCase<3>> all{
      {"faces", {7, 8, 9}, {false, true, false}, 1, false},
      {"open", {7, 8, 9}, {false, false, false}, 1, true},
      {"one_sided", {14, 9, 15}, {true, true, false}, {{0, 2}, {1, 0}, {2, 1}}, true},
      as_wide_as_the_box()};
  return all;
}

TEST(ReduceTransports, AreRefusedWhereTheyDontRun) {
  expect_other_transports_refused();
}

TEST(Reduce, FoldsIntegersExactly) {
  for (const auto& halo_case : cases()) {
    expect_reductions<FieldKind<3, int, Kokkos::LayoutRight, 0>>(halo_case, Sum{}, Min{}, Max{}, Product{});
  }
}

TEST(Reduce, FoldsDoublesInOneOrderWhateverTheTransport) {
  for (const auto& halo_case : cases()) {
    expect_reductions<FieldKind<3, double, Kokkos::LayoutLeft, 0>>(halo_case, Sum{}, Min{}, Max{}, Product{});
  }
}

TEST(Reduce, FoldsComponentsOfStridedViews) {
  for (const auto& halo_case : cases()) {
    expect_reductions<FieldKind<3, double, Kokkos::LayoutStride, 2>>(halo_case, Sum{});
  }
}

TEST(Reduce, FoldsComplexNumbers) {
  const HaloCase<2> halo_case{"periodic", {16, 11}, {true, true}, {{2, 1}, {1, 3}}, true};
  expect_reductions<FieldKind<2, Kokkos::complex<double>, Kokkos::LayoutRight, 0>>(halo_case, Sum{});
}

TEST(Reduce, RefusesWhatValuesDontHave) {
  const Context context(MPI_COMM_WORLD);
  const Grid<1> grid(context, {.cells = {8}, .periodic = {true}});
  const auto refusal = [&](const auto& view, ReduceOperation operation) {
    HaloExchange halo(Space(), grid, {}, view);
    const auto error = thrown_by([&] { halo.reduce(Space(), operation, view); });
    EXPECT_TRUE(error);
    EXPECT_EQ(error ? error->kind() : ErrorKind::mpi, ErrorKind::usage);
    return error ? error->message() : "";
  };
  EXPECT_EQ(refusal(grid.allocate<double, Kokkos::LayoutRight>("u", 1), ReduceOperation::average),
            "halos of such values are reduced by sum, product, min or max, not by average");
  EXPECT_EQ(
      refusal(grid.allocate<Kokkos::complex<double>, Kokkos::LayoutRight>("u", 1), ReduceOperation::min),
      "halos of such values are reduced by sum or product, not by min");
}

struct LargerMagnitude {
  KOKKOS_FUNCTION double operator()(double owned, double contribution) const {
    return Kokkos::abs(contribution) > Kokkos::abs(owned) ? contribution : owned;
  }
};

TEST(Reduce, TakesAnOperationOfTheCaller) {
  const HaloCase<1> halo_case{"ring", {40}, {true}, {{2, 3}}, true};
  expect_reductions<FieldKind<1, double, Kokkos::LayoutRight, 0>>(halo_case, LargerMagnitude{});
}

class MixedSequence : public testing::TestWithParam<std::tuple<Transport, GhostReuse>> {};

TEST_P(MixedSequence, OfExchangesAndReductionsOfTwoViewsStaysExact) {
  using Kind = FieldKind<2, double, Kokkos::LayoutRight, 0>;
  const auto [transport, reuse] = GetParam();
  const Context context(MPI_COMM_WORLD);
  if (is_refused(context, transport)) GTEST_SKIP() << "MPI refuses GPU memory";
  const HaloCase<2> halo_case{"periodic", {17, 20}, {true, true}, {{1, 2}, {2, 1}}, true};
  const Grid<2> grid(context, {.cells = halo_case.cells, .periodic = halo_case.periodic});
  const TestField<Kind> u(grid, halo_case.width, Home::shared);
  const TestField<Kind> v(grid, halo_case.width, Home::shared);
  const Oracle<Kind> oracle(grid, halo_case);
  HaloExchange halo(Space(), grid, {.width = halo_case.width, .ghost_reuse = reuse, .transport = transport},
                    u.view(), v.view());
  // Which View, and whether it is reduced: all pairs of successors occur.
  const std::string sequence = "uvuUvVuuVUvUUvvVVuVuUVvUv";
  int round = 0;
  fill(u, grid, halo_case.width, 0, 0);
  fill(v, grid, halo_case.width, 0, 0);
  for (const char step : sequence) {
    const auto& field = step == 'u' || step == 'U' ? u : v;
    ++round;
    // Its ghosts may be put into from the neighbour's next exchange on: nobody may lag behind with a fill.
    MPI_Barrier(MPI_COMM_WORLD);
    if (step == 'U' || step == 'V') {
      ASSERT_EQ(wrong_after_reduce(halo, field, oracle, grid.rank(), Sum{}, round), 0) << "round " << round;
    } else {
      fill(field, grid, halo_case.width, 0, round);
      MPI_Barrier(MPI_COMM_WORLD);
      halo.exchange(Space(), field.view());
      ASSERT_EQ(on_all_ranks(count_wrong(field, grid, halo_case, 0, round)), 0) << "round " << round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTransport, MixedSequence,
                         testing::Combine(testing::ValuesIn(carrying_transports()),
                                          testing::Values(GhostReuse::credit, GhostReuse::alternating)));

}  // namespace
}  // namespace selvage::test
