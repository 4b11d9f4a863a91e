#include "space.hpp"
#include "thrown.hpp"

#include <selvage/comm/custom_allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

/// A number, and where it is.
struct Found {
  double value;
  int rank;
  std::int16_t index;
};
/// Of equal ones the first.
struct Larger {
  KOKKOS_FUNCTION Found operator()(const Found& lower, const Found& higher) const {
    return higher.value > lower.value ? higher : lower;
  }
};
/// Neither commutative nor associative.
struct Digits {
  KOKKOS_FUNCTION std::uint64_t operator()(const std::uint64_t& lower, const std::uint64_t& higher) const {
    return lower * 31 + higher;
  }
};
struct Colour {
  std::uint8_t red, green, blue;
};
struct Brightest {
  KOKKOS_FUNCTION static std::uint8_t of(std::uint8_t a, std::uint8_t b) { return a > b ? a : b; }
  KOKKOS_FUNCTION Colour operator()(const Colour& a, const Colour& b) const {
    return {of(a.red, b.red), of(a.green, b.green), of(a.blue, b.blue)};
  }
};

class CustomAllreduceTest : public testing::TestWithParam<AllreduceOptions> {
 protected:
  [[nodiscard]] int ranks() const { return context_.size(); }

  template <class T>
  using View = Kokkos::View<T*, Space>;

  template <class T>
  void fill(const View<T>& view, const std::function<T(int, int)>& value) const {
    const auto host = Kokkos::create_mirror_view(view);
    for (std::size_t i = 0; i < host.size(); ++i) host(i) = value(context_.rank(), static_cast<int>(i));
    Kokkos::deep_copy(view, host);
  }
  template <class T, class Same>
  [[nodiscard]] static int wrong(const View<T>& view, const std::function<T(int)>& expected,
                                 const Same& same) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    int count = 0;
    for (std::size_t i = 0; i < host.size(); ++i)
      count += same(host(i), expected(static_cast<int>(i))) ? 0 : 1;
    return count;
  }

  const Space space_;
  const Context context_{MPI_COMM_WORLD};
};

INSTANTIATE_TEST_SUITE_P(Ways, CustomAllreduceTest,
                         testing::Values(AllreduceOptions(),
                                         AllreduceOptions{.algorithm = AllreduceAlgorithm::mpi}),
                         [](const auto& tested) { return tested.param.algorithm ? "mpi" : "chosen"; });

TEST_P(CustomAllreduceTest, FindsWhereTheLargestIs) {
  for (const int length : {0, 1, 3, 64, 1003}) {
    const View<Found> view("largest", static_cast<std::size_t>(length));
    CustomAllreduce largest(space_, context_, view, Larger(), GetParam());
    for (int round = 0; round < 5; ++round) {
      const auto value = [round](int rank, int i) {
        return static_cast<double>((rank * 7 + i * 3 + round * 5) % 11);
      };
      fill<Found>(view, [&](int rank, int i) {
        return Found{value(rank, i), rank, static_cast<std::int16_t>(i)};
      });
      largest.run(space_);
      space_.fence();
      largest.check();
      const auto expected = [&](int i) {
        int best = 0;
        for (int rank = 1; rank < ranks(); ++rank) best = value(rank, i) > value(best, i) ? rank : best;
        return Found{value(best, i), best, static_cast<std::int16_t>(i)};
      };
      ASSERT_EQ(wrong<Found>(view, expected,
                             [](const Found& a, const Found& b) {
                               return a.value == b.value && a.rank == b.rank && a.index == b.index;
                             }),
                0)
          << "of " << length << ", round " << round << '\n'
          << largest.explain();
    }
  }
}

TEST_P(CustomAllreduceTest, CombinesInRankOrder) {
  const View<std::uint64_t> view("digits", 100);
  const auto value = [](int rank, int i) { return static_cast<std::uint64_t>(rank * 1000 + i); };
  fill<std::uint64_t>(view, value);
  CustomAllreduce digits(space_, context_, view, Digits(), GetParam());
  digits.run(space_);
  space_.fence();
  const auto expected = [&](int i) {
    std::uint64_t combined = value(0, i);
    for (int rank = 1; rank < ranks(); ++rank) combined = combined * 31 + value(rank, i);
    return combined;
  };
  EXPECT_EQ(wrong<std::uint64_t>(view, expected, std::equal_to<>()), 0);
}

TEST_P(CustomAllreduceTest, TakesValuesOfAnySize) {
  const View<Colour> view("colours", 77);
  fill<Colour>(view, [](int rank, int i) {
    return Colour{static_cast<std::uint8_t>(rank == 0 ? 200 : i), static_cast<std::uint8_t>(i),
                  static_cast<std::uint8_t>(i + rank)};
  });
  CustomAllreduce brightest(space_, context_, view, Brightest(), GetParam());
  brightest.run(space_);
  space_.fence();
  const auto expected = [&](int i) {
    return Colour{200, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i + ranks() - 1)};
  };
  EXPECT_EQ(wrong<Colour>(view, expected,
                          [](const Colour& a, const Colour& b) {
                            return a.red == b.red && a.green == b.green && a.blue == b.blue;
                          }),
            0);
}

TEST_P(CustomAllreduceTest, NamesWhatDiffersBetweenRanks) {
  const bool is_last = context_.rank() == ranks() - 1;
  const View<std::uint64_t> view("digits", is_last ? 4 : 3);
  const std::string place = " on rank 0, 4 on rank " + std::to_string(ranks() - 1);
  if (ranks() > 1) {
    const std::string message = message_on_all_ranks(
        ErrorKind::usage, [&] { CustomAllreduce(space_, context_, view, Digits(), GetParam()); });
    EXPECT_NE(message.find("CustomAllreduce of the View \"digits\" that differs in the number of values: 3" +
                           place),
              std::string::npos)
        << message;
  }
  const Kokkos::View<std::uint64_t**, Kokkos::LayoutLeft, Space> all("all", 20, 10);
  const auto gaps = Kokkos::subview(all, 0, Kokkos::ALL());
  const std::string message = message_on_all_ranks(
      ErrorKind::usage, [&] { CustomAllreduce(space_, context_, gaps, Digits(), GetParam()); });
  EXPECT_NE(message.find("the View \"all\" has gaps between its values"), std::string::npos) << message;
}

}  // namespace
}  // namespace selvage::test
