#include "halo_conformance.hpp"

#include <optional>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

const HaloCase<2> halo_case{"mixed", {19, 22}, {true, false}, {{2, 1}, {1, 2}}, true};

using Doubles = TestField<FieldKind<2, double, Kokkos::LayoutRight, 0>>;
using Floats = TestField<FieldKind<2, float, Kokkos::LayoutLeft, 3>>;
using Complexes = TestField<FieldKind<2, Kokkos::complex<double>, Kokkos::LayoutRight, 0>>;
using Shorts = TestField<FieldKind<2, std::int16_t, Kokkos::LayoutStride, 5>>;

/// Four Views of different element types, layouts and numbers of components, and one HaloExchange for all.
class Quartet {
 public:
  Quartet(const Grid<2>& grid, std::optional<Transport> transport)
      : grid_(grid),
        doubles_(grid, halo_case.width, Home::shared),
        floats_(grid, halo_case.width, Home::shared),
        complexes_(grid, halo_case.width, Home::shared),
        shorts_(grid, halo_case.width, Home::shared),
        halo_(Space(), grid, {.width = halo_case.width, .transport = transport}, doubles_.view(),
              floats_.view(), complexes_.view(), shorts_.view()) {}

  /// Exchanges some of the Views with new values.
  /// \return how many elements are wrong, on all ranks: of the others, the ghosts must be as they were
  int exchange(const std::array<bool, 4>& chosen, int round) {
    fill_all(round);
    const auto call = [&](const auto&... views) { halo_.exchange(Space(), views...); };
    with_chosen(chosen, call);
    int wrong = 0;
    wrong += wrong_in(doubles_, 0, chosen[0], round);
    wrong += wrong_in(floats_, 1, chosen[1], round);
    wrong += wrong_in(complexes_, 2, chosen[2], round);
    wrong += wrong_in(shorts_, 3, chosen[3], round);
    return on_all_ranks(wrong);
  }

  [[nodiscard]] const HaloExchange& halo() const { return halo_; }

 private:
  void fill_all(int round) {
    fill(doubles_, grid_, halo_case.width, 0, round);
    fill(floats_, grid_, halo_case.width, 1, round);
    fill(complexes_, grid_, halo_case.width, 2, round);
    fill(shorts_, grid_, halo_case.width, 3, round);
  }

  template <class Field>
  int wrong_in(const Field& field, int id, bool exchanged, int round) const {
    return exchanged ? count_wrong(field, grid_, halo_case, id, round)
                     : count_touched(field, grid_, halo_case.width, id, round);
  }

  template <class Call>
  void with_chosen(const std::array<bool, 4>& chosen, const Call& call) const {
    const auto add = [](bool wanted, const auto& view, const auto& next) {
      return [wanted, view, next](const auto&... before) {
        if (wanted) {
          next(before..., view);
        } else {
          next(before...);
        }
      };
    };
    add(chosen[0], doubles_.view(),
        add(chosen[1], floats_.view(),
            add(chosen[2], complexes_.view(), add(chosen[3], shorts_.view(), call))))();
  }

  Grid<2> grid_;
  Doubles doubles_;
  Floats floats_;
  Complexes complexes_;
  Shorts shorts_;
  HaloExchange halo_;
};

class SeveralFields : public testing::TestWithParam<std::optional<Transport>> {
 protected:
  SeveralFields() : grid_(context_, {.cells = halo_case.cells, .periodic = halo_case.periodic}) {}
  const Context context_{MPI_COMM_WORLD};
  const Grid<2> grid_;
  void SetUp() override {
    if (GetParam() && is_refused(context_, *GetParam())) GTEST_SKIP() << "MPI refuses GPU memory";
  }
};

TEST(SeveralFieldsTransports, AreRefusedWhereTheyDontRun) {
  expect_other_transports_refused();
}

TEST_P(SeveralFields, MoveTogetherAloneAndInAnySubset) {
  Quartet quartet(grid_, GetParam());
  int round = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int subset = 1; subset < 16; ++subset, ++round) {
      const std::array chosen{(subset & 1) != 0, (subset & 2) != 0, (subset & 4) != 0, (subset & 8) != 0};
      ASSERT_EQ(quartet.exchange(chosen, round), 0) << "subset " << subset << "\n"
                                                    << quartet.halo().explain();
    }
  }
}

TEST_P(SeveralFields, CountTheBytesOfTheirCells) {
  const Quartet quartet(grid_, GetParam());
  const Box<2> box = grid_.box();
  std::int64_t cells = 0;
  for (int i = -1; i <= 1; ++i) {
    for (int j = -1; j <= 1; ++j) {
      const int there = grid_.neighbour({i, j});
      if ((i == 0 && j == 0) || there == Grid<2>::no_neighbour || there == grid_.rank()) continue;
      cells += (i == 0 ? box.extent(0) : i < 0 ? 1 : 2) * (j == 0 ? box.extent(1) : j < 0 ? 2 : 1);
    }
  }
  EXPECT_EQ(quartet.halo().bytes_per_exchange(), cells * (8 + 3 * 4 + 16 + 5 * 2));
}

std::string name_of_choice(const testing::TestParamInfo<std::optional<Transport>>& info) {
  return info.param ? std::string(to_string(*info.param)) : "chosen";
}

std::vector<std::optional<Transport>> every_choice() {
  std::vector<std::optional<Transport>> all{std::nullopt};
  for (const Transport transport : carrying_transports()) all.emplace_back(transport);
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryTransport, SeveralFields, testing::ValuesIn(every_choice()), name_of_choice);

}  // namespace
}  // namespace selvage::test
