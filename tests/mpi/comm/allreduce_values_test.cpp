#include "allreduce_elements.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/collectives.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace selvage::test {
namespace {

using Operation = ReduceOperation;

/// Values that are no elements themselves: complex numbers and other integers.
class AllreduceValues : public testing::TestWithParam<std::optional<AllreduceAlgorithm>> {
 protected:
  static constexpr int length = 1003;

  [[nodiscard]] AllreduceOptions options(Operation operation = Operation::sum) const {
    return {.operation = operation, .algorithm = GetParam()};
  }
  [[nodiscard]] int ranks() const { return context_.size(); }

  template <class T>
  [[nodiscard]] Kokkos::View<T*, Space> filled(const std::function<T(int, int)>& value) const {
    Kokkos::View<T*, Space> view("values", length);
    const Kokkos::View<T*, Kokkos::HostSpace> host("host", length);
    for (int i = 0; i < length; ++i) host(i) = value(context_.rank(), i);
    Kokkos::deep_copy(Space(), view, host);
    Space().fence();
    return view;
  }
  template <class T>
  void expect(const Kokkos::View<T*, Space>& view, const std::function<T(int)>& value) const {
    const Kokkos::View<T*, Kokkos::HostSpace> host("host", length);
    Kokkos::deep_copy(Space(), host, view);
    Space().fence();
    int wrong = 0;
    for (int i = 0; i < length; ++i) wrong += host(i) == value(i) ? 0 : 1;
    EXPECT_EQ(wrong, 0) << "of " << length;
  }

  /// Sums and averages that every type holds exactly.
  template <class Complex>
  void expect_complex() const {
    using Real = typename Complex::value_type;
    const auto value = [](int rank, int i) {
      return Complex(static_cast<Real>(rank + 1) * static_cast<Real>(i % 7),
                     static_cast<Real>(i - 12 * (rank + 1)));
    };
    // The sum of rank + 1 over all ranks.
    const int factor = ranks() * (ranks() + 1) / 2;
    const auto sum = [&](int i) {
      return Complex(static_cast<Real>(factor * (i % 7)), static_cast<Real>(ranks() * i - 12 * factor));
    };
    const auto view = filled<Complex>(value);
    Allreduce allreduce(Space(), context_, view, options());
    allreduce.run(Space());
    expect<Complex>(view, sum);

    const auto same = filled<Complex>([](int, int i) { return Complex(static_cast<Real>(i), Real(-3)); });
    Allreduce average(Space(), context_, same, options(Operation::average));
    average.run(Space());
    expect<Complex>(same, [](int i) { return Complex(static_cast<Real>(i), Real(-3)); });
  }

  const Context context_{MPI_COMM_WORLD};
};

INSTANTIATE_TEST_SUITE_P(Algorithms, AllreduceValues,
                         testing::Values(std::optional<AllreduceAlgorithm>(), AllreduceAlgorithm::mpi),
                         [](const auto& tested) { return tested.param ? "mpi" : "chosen"; });

TEST_P(AllreduceValues, ComplexNumbers) {
  expect_complex<Kokkos::complex<double>>();
  expect_complex<Kokkos::complex<float>>();
  expect_complex<std::complex<double>>();
}

TEST_P(AllreduceValues, UnsignedIntegersWrap) {
  const auto view = filled<std::uint32_t>([](int rank, int i) {
    return std::numeric_limits<std::uint32_t>::max() - static_cast<std::uint32_t>(rank * i);
  });
  Allreduce sum(Space(), context_, view, options());
  sum.run(Space());
  const auto n = static_cast<std::uint32_t>(ranks());
  expect<std::uint32_t>(view,
                        [&](int i) { return 0U - n - n * (n - 1) / 2 * static_cast<std::uint32_t>(i); });

  const auto wide = filled<std::uint64_t>(
      [](int, int i) { return (std::uint64_t{1} << 63) + static_cast<std::uint64_t>(i); });
  Allreduce product(Space(), context_, wide, options(Operation::product));
  product.run(Space());
  expect<std::uint64_t>(wide, [&](int i) {
    std::uint64_t expected = 1;
    for (int rank = 0; rank < ranks(); ++rank)
      expected *= (std::uint64_t{1} << 63) + static_cast<std::uint64_t>(i);
    return expected;
  });
}

TEST_P(AllreduceValues, UnsignedIntegersAreOrderedAndDividedAsSuch) {
  const auto high = [](int rank, int i) {
    return (std::uint64_t{1} << 63) - 2 + static_cast<std::uint64_t>((rank + i) % 4);
  };
  const auto extreme = [&](int i, bool largest) {
    std::uint64_t found = high(0, i);
    for (int rank = 1; rank < ranks(); ++rank)
      found = largest ? std::max(found, high(rank, i)) : std::min(found, high(rank, i));
    return found;
  };
  const auto lowest = filled<std::uint64_t>(high);
  Allreduce min(Space(), context_, lowest, options(Operation::min));
  min.run(Space());
  expect<std::uint64_t>(lowest, [&](int i) { return extreme(i, false); });

  const auto highest = filled<std::uint64_t>(high);
  Allreduce max(Space(), context_, highest, options(Operation::max));
  max.run(Space());
  expect<std::uint64_t>(highest, [&](int i) { return extreme(i, true); });

  const auto same = filled<std::uint32_t>([&](int, int i) {
    return std::numeric_limits<std::uint32_t>::max() / static_cast<std::uint32_t>(ranks()) -
           static_cast<std::uint32_t>(i);
  });
  Allreduce average(Space(), context_, same, options(Operation::average));
  average.run(Space());
  expect<std::uint32_t>(same, [&](int i) {
    return std::numeric_limits<std::uint32_t>::max() / static_cast<std::uint32_t>(ranks()) -
           static_cast<std::uint32_t>(i);
  });
}

TEST_P(AllreduceValues, ShortIntegersWrapButTheirAveragesDont) {
  const auto view = filled<std::int8_t>([](int rank, int) { return static_cast<std::int8_t>(127 - rank); });
  Allreduce sum(Space(), context_, view, options());
  sum.run(Space());
  const int exact = 127 * ranks() - ranks() * (ranks() - 1) / 2;
  expect<std::int8_t>(view, [&](int) { return static_cast<std::int8_t>(exact); });

  const auto again = filled<std::int8_t>([](int rank, int) { return static_cast<std::int8_t>(127 - rank); });
  Allreduce average(Space(), context_, again, options(Operation::average));
  average.run(Space());
  expect<std::int8_t>(again, [&](int) { return static_cast<std::int8_t>(exact / ranks()); });

  const auto pixels = filled<unsigned char>(
      [](int rank, int i) { return static_cast<unsigned char>(rank == i % 2 ? 200 + i % 50 : i % 50); });
  Allreduce brightest(Space(), context_, pixels, options(Operation::max));
  brightest.run(Space());
  expect<unsigned char>(pixels, [&](int i) {
    const bool is_bright = i % 2 < ranks();
    return static_cast<unsigned char>(is_bright ? 200 + i % 50 : i % 50);
  });
}

TEST_P(AllreduceValues, LongLongHasAllOperations) {
  const auto view =
      filled<long long>([](int rank, int i) { return (rank == 0 ? -1LL : 1LL) * (i + 1) * 5'000'000'000LL; });
  Allreduce min(Space(), context_, view, options(Operation::min));
  min.run(Space());
  expect<long long>(view, [](int i) { return -(i + 1) * 5'000'000'000LL; });
}

TEST_P(AllreduceValues, PartsAreCountedInValues) {
  using Complex = Kokkos::complex<double>;
  const auto view = filled<Complex>([](int rank, int i) { return Complex(rank + 1, i); });
  ReduceScatter scatter(Space(), context_, view, options());
  scatter.run(Space());
  AllGather gather(Space(), context_, view, options());
  std::int64_t end = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    EXPECT_EQ(scatter.part(rank).begin, end);
    EXPECT_EQ(gather.part(rank).begin, end);
    end += scatter.part(rank).count;
  }
  EXPECT_EQ(end, length);
  gather.run(Space());
  expect<Complex>(view, [&](int i) { return Complex(ranks() * (ranks() + 1) / 2, ranks() * i); });
}

TEST_P(AllreduceValues, AreMovedWhateverTheyHold) {
  const auto view = filled<std::uint64_t>(
      [](int rank, int i) { return ~std::uint64_t{0} - static_cast<std::uint64_t>(rank * 10 + i); });
  // Nothing is combined, so any operation will do.
  Broadcast broadcast(Space(), context_, view, ranks() - 1, options(Operation::max));
  broadcast.run(Space());
  expect<std::uint64_t>(
      view, [&](int i) { return ~std::uint64_t{0} - static_cast<std::uint64_t>((ranks() - 1) * 10 + i); });
}

TEST_P(AllreduceValues, CanComeFromAnotherView) {
  const auto value = [](int rank, int i) { return static_cast<double>((rank + 1) * i); };
  const auto input = filled<double>(value);
  const Kokkos::View<const double*, Space> read_only = input;
  const Kokkos::View<double*, Space> output("output", length);
  Allreduce allreduce(Space(), context_, output, options());
  for (int round = 0; round < 3; ++round) {
    allreduce.run(Space(), read_only);
    expect<double>(output, [&](int i) { return static_cast<double>(ranks() * (ranks() + 1) / 2 * i); });
    expect<double>(input, [&](int i) { return value(context_.rank(), i); });
  }
}

TEST_P(AllreduceValues, ComeFromNoOtherViewThatDiffers) {
  const Kokkos::View<double*, Space> output("output", 10);
  const Kokkos::View<double*, Space> longer("longer", 11);
  const Kokkos::View<float*, Space> floats("floats", 10);
  const Kokkos::View<Kokkos::complex<double>*, Space> spectrum("spectrum", 5);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> all("all", 20, 10);
  const auto gaps = Kokkos::subview(all, std::pair(0, 1), Kokkos::ALL());
  Allreduce allreduce(Space(), context_, output, options());
  const auto refusal = [&](const auto& input) {
    const auto error = thrown_by([&] { allreduce.run(Space(), input); });
    EXPECT_TRUE(error && error->kind() == ErrorKind::usage);
    return error ? std::string(error->what()) : std::string();
  };
  const std::string whole = "an Allreduce of the View \"output\", 10 fp64, can't take the View ";
  EXPECT_NE(refusal(longer).find(whole + "\"longer\", 11 fp64"), std::string::npos) << refusal(longer);
  EXPECT_NE(refusal(floats).find(whole + "\"floats\", 10 fp32"), std::string::npos) << refusal(floats);
  EXPECT_NE(refusal(spectrum).find(whole + "\"spectrum\", 5 complex fp64"), std::string::npos)
      << refusal(spectrum);
  EXPECT_NE(refusal(gaps).find(whole + "\"all\", which has gaps"), std::string::npos) << refusal(gaps);
}

TEST_P(AllreduceValues, RefuseOperationsThatTheyDontHave) {
  const Kokkos::View<Kokkos::complex<double>*, Space> spectrum("spectrum", 4);
  for (const Operation operation : {Operation::min, Operation::max, Operation::product}) {
    const std::string message = message_on_all_ranks(
        ErrorKind::unsupported, [&] { Allreduce(Space(), context_, spectrum, options(operation)); });
    EXPECT_NE(message.find("\"spectrum\" holds complex numbers: sum and average combine them, " +
                           std::string(to_string(operation)) + " doesn't"),
              std::string::npos)
        << message;
  }
}

}  // namespace
}  // namespace selvage::test
