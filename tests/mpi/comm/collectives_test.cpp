#include "allreduce_elements.hpp"
#include "job.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/collectives.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

using Algorithm = AllreduceAlgorithm;
using Operation = ReduceOperation;

struct CollectiveCase {
  std::string name;
  std::optional<Algorithm> algorithm = {};
  bool is_shared = false;

  friend void PrintTo(const CollectiveCase& tested, std::ostream* out) { *out << tested.name; }
};

std::vector<CollectiveCase> collective_cases() {
  return {{"chosen"},
          {"chosen_shared", {}, true},
          {"two_shot", Algorithm::two_shot},
          {"two_shot_shared", Algorithm::two_shot, true},
          {"mpi", Algorithm::mpi}};
}

/// Kernels and hosts combine through mapped memory within a host only.
bool collective_must_run(const CollectiveCase& tested) {
  return tested.algorithm != Algorithm::two_shot || this_job().is_on_one_host();
}

class CollectiveConformance : public testing::TestWithParam<CollectiveCase> {
 protected:
  CollectiveConformance() : context_(MPI_COMM_WORLD) {}

  [[nodiscard]] AllreduceOptions options(Operation operation = Operation::sum) const {
    return {.operation = operation, .algorithm = GetParam().algorithm};
  }
  [[nodiscard]] int rank() const { return context_.rank(); }
  [[nodiscard]] int ranks() const { return context_.size(); }
  /// A value whose bits must not change.
  template <class T>
  [[nodiscard]] T original(int rank, std::int64_t index, int round) const {
    const auto at = static_cast<std::size_t>(index);
    return known_values<T>(rank, round, at + 1)[at];
  }

  template <class T>
  [[nodiscard]] T combined_elements(Operation operation, std::int64_t index, int round) const {
    const auto at = static_cast<std::size_t>(index);
    return known_results<T>(operation, ranks(), round, at + 1)[at];
  }

  /// Runs a collective twice, with other values, and compares every bit.
  /// \param expected  of (index, round) on this rank
  template <class T, class Made>
  void expect_elements(Made& collective, Elements<T>& elements,
                       const std::function<T(std::int64_t, int)>& expected) {
    const auto count = static_cast<std::int64_t>(elements.view.size());
    Kokkos::View<T*, Kokkos::HostSpace> seen("seen", elements.view.size());
    std::int64_t wrong = 0;
    for (int round = 0; round < 2; ++round) {
      elements.fill(rank(), round);
      collective.run(Space());
      Kokkos::deep_copy(Space(), seen, elements.view);
      Space().fence();
      for (std::int64_t i = 0; i < count; ++i)
        wrong += same_bits(seen(static_cast<std::size_t>(i)), expected(i, round)) ? 0 : 1;
      collective.check();
    }
    EXPECT_EQ(wrong, 0) << "of " << count << " elements of " << sizeof(T) << " bytes\n"
                        << collective.explain();
  }

  template <class T>
  void expect_reduce_scatter(Operation operation, std::int64_t count, std::int64_t offset) {
    Elements<T> elements(context_, count, offset, GetParam().is_shared);
    ReduceScatter collective(Space(), context_, elements.view, options(operation));
    const ElementRange own = collective.part(rank());
    expect_elements<T>(collective, elements, [&, own](std::int64_t i, int round) {
      const bool is_own = i >= own.begin && i < own.begin + own.count;
      return is_own ? combined_elements<T>(operation, i, round) : original<T>(rank(), i, round);
    });
  }
  template <class T>
  void expect_all_gather(std::int64_t count, std::int64_t offset) {
    Elements<T> elements(context_, count, offset, GetParam().is_shared);
    AllGather collective(Space(), context_, elements.view, options());
    std::vector<int> owners(static_cast<std::size_t>(count), -1);
    for (int owner = 0; owner < ranks(); ++owner) {
      const ElementRange part = collective.part(owner);
      for (std::int64_t i = 0; i < part.count; ++i)
        owners.at(static_cast<std::size_t>(part.begin + i)) = owner;
    }
    expect_elements<T>(collective, elements, [&](std::int64_t i, int round) {
      return original<T>(owners[static_cast<std::size_t>(i)], i, round);
    });
  }
  template <class T>
  void expect_reduce(Operation operation, std::int64_t count, std::int64_t offset, int root) {
    Elements<T> elements(context_, count, offset, GetParam().is_shared);
    Reduce collective(Space(), context_, elements.view, root, options(operation));
    expect_elements<T>(collective, elements, [&](std::int64_t i, int round) {
      return rank() == root ? combined_elements<T>(operation, i, round) : original<T>(rank(), i, round);
    });
  }
  template <class T>
  void expect_broadcast(std::int64_t count, std::int64_t offset, int root) {
    Elements<T> elements(context_, count, offset, GetParam().is_shared);
    Broadcast collective(Space(), context_, elements.view, root, options());
    expect_elements<T>(collective, elements,
                       [&](std::int64_t i, int round) { return original<T>(root, i, round); });
  }

  template <class T>
  void expect_all_right() {
    for (const std::int64_t count : {0, 1, 63, 64, 65, 1000, 4099}) {
      const std::int64_t offset = count % 3;
      for (const Operation operation :
           {Operation::sum, Operation::average, Operation::min, Operation::max, Operation::product}) {
        expect_reduce_scatter<T>(operation, count, offset);
        expect_reduce<T>(operation, count, offset, static_cast<int>(count) % ranks());
      }
      expect_all_gather<T>(count, offset);
      for (int root = 0; root < ranks(); ++root) expect_broadcast<T>(count, offset, root);
    }
    // More than the slots of any algorithm hold.
    constexpr std::int64_t many = 280'001;
    expect_reduce_scatter<T>(Operation::sum, many, 1);
    expect_reduce<T>(Operation::sum, many, 0, ranks() - 1);
    expect_all_gather<T>(many, 3);
    expect_broadcast<T>(many, 2, ranks() / 2);
  }

  const Context context_;
};

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, CollectiveConformance,
                         testing::ValuesIn(cases_where(collective_cases(), collective_must_run)),
                         [](const auto& tested) { return tested.param.name; });

TEST(CollectiveCases, AreRefusedWhereTheyDontRun) {
  const Context context(MPI_COMM_WORLD);
  const LeastCases least{
      .on_one_host = 5, .on_several_hosts = 3, .on_gpus_of_one_host = 5, .on_gpus_of_several_hosts = 3};
  EXPECT_EQ(cases_where(collective_cases(), collective_must_run).size(), least.here(!on_host));
  const Kokkos::View<double*, Space> view("probe", 1);
  for (const CollectiveCase& tested : collective_cases()) {
    if (collective_must_run(tested)) continue;
    const auto error = thrown_by([&] { AllGather(Space(), context, view, {.algorithm = tested.algorithm}); });
    EXPECT_EQ(error ? to_string(error->kind()) : "nothing was thrown", to_string(ErrorKind::unsupported))
        << tested.name;
  }
}

TEST_P(CollectiveConformance, Doubles) {
  expect_all_right<double>();
}
TEST_P(CollectiveConformance, Floats) {
  expect_all_right<float>();
}
TEST_P(CollectiveConformance, SixteenBits) {
  expect_all_right<Half>();
  expect_all_right<Bfloat16>();
}
TEST_P(CollectiveConformance, Integers) {
  expect_all_right<std::int32_t>();
  expect_all_right<std::int64_t>();
}

class Collectives : public testing::Test {
 protected:
  Collectives() : context_(MPI_COMM_WORLD) {}

  const Context context_;
};

TEST_F(Collectives, PartsCoverAllElementsInRankOrder) {
  for (const std::int64_t count : {0, 1, 100, 4099}) {
    Elements<float> elements(context_, count, 0, false);
    const AllGather gather(Space(), context_, elements.view);
    const ReduceScatter scatter(Space(), context_, elements.view);
    std::int64_t end = 0;
    for (int rank = 0; rank < context_.size(); ++rank) {
      EXPECT_EQ(gather.part(rank).begin, end);
      EXPECT_EQ(scatter.part(rank).begin, end);
      EXPECT_EQ(scatter.part(rank).count, gather.part(rank).count);
      end += gather.part(rank).count;
    }
    EXPECT_EQ(end, count);
  }
}

/// What sharded optimizers rest on.
TEST_F(Collectives, ReduceScatterAndAllGatherAreAnAllreduce) {
  constexpr std::int64_t count = 10'007;
  Elements<float> parted(context_, count, 1, false);
  Elements<float> whole(context_, count, 0, false);
  ReduceScatter scatter(Space(), context_, parted.view, {.operation = Operation::average});
  AllGather gather(Space(), context_, parted.view);
  Allreduce allreduce(Space(), context_, whole.view, {.operation = Operation::average});
  parted.fill(context_.rank(), 7);
  whole.fill(context_.rank(), 7);
  scatter.run(Space());
  gather.run(Space());
  allreduce.run(Space());
  EXPECT_EQ(parted.first_wrong(Operation::average, context_.size(), 7), -1);
  EXPECT_EQ(whole.first_wrong(Operation::average, context_.size(), 7), -1);
}

/// NaNs keep what they carry.
TEST_F(Collectives, BroadcastCopiesBits) {
  Kokkos::View<Bfloat16*, Space> view("nans", 129);
  Kokkos::View<Bfloat16*, Kokkos::HostSpace> mirror("mirror", 129);
  for (int i = 0; i < 129; ++i) mirror(i).bits = static_cast<std::uint16_t>(0x7f81 + i % 64);
  if (context_.rank() != 0) Kokkos::deep_copy(mirror, Bfloat16{});
  Kokkos::deep_copy(Space(), view, mirror);
  Broadcast broadcast(Space(), context_, view, 0);
  broadcast.run(Space());
  Kokkos::deep_copy(Space(), mirror, view);
  Space().fence();
  for (int i = 0; i < 129; ++i) EXPECT_EQ(mirror(i).bits, 0x7f81 + i % 64) << i;
}

TEST_F(Collectives, AlgorithmsThatAreAllreducesOnlyAreRefused) {
  Kokkos::View<double*, Space> view("view", 100);
  const auto error = thrown_by([&] {
    Broadcast(Space(), context_, view, 0,
              {.algorithm = Algorithm::recursive_doubling, .allow_reordering = true});
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::unsupported);
  EXPECT_NE(error->message().find("it is no Broadcast"), std::string::npos) << error->message();
}

TEST_F(Collectives, ARootThatIsNotThereIsAnError) {
  Kokkos::View<double*, Space> view("view", 100);
  for (const int root : {-1, context_.size()}) {
    const auto error = thrown_by([&] { Reduce(Space(), context_, view, root); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    EXPECT_NE(error->message().find("the root of a Reduce is rank " + std::to_string(root)),
              std::string::npos)
        << error->message();
  }
}

TEST_F(Collectives, DifferentRootsAreAnErrorOnEveryRank) {
  if (context_.size() < 2) GTEST_SKIP() << "takes two ranks";
  Kokkos::View<double*, Space> view("view", 100);
  const auto error = thrown_by([&] { Broadcast(Space(), context_, view, context_.rank() == 0 ? 0 : 1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_NE(error->message().find("the root: 0 on rank 0, 1 on rank 1"), std::string::npos)
      << error->message();
}

TEST_F(Collectives, DifferentKindsAreAnErrorOnEveryRank) {
  if (context_.size() < 2) GTEST_SKIP() << "takes two ranks";
  Kokkos::View<double*, Space> view("view", 100);
  const auto error = thrown_by([&] {
    if (context_.rank() == 0) {
      AllGather(Space(), context_, view);
    } else {
      ReduceScatter(Space(), context_, view);
    }
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
  EXPECT_NE(
      error->message().find(
          "rank 0 is in the construction of an AllGather, rank 1 in the construction of a ReduceScatter"),
      std::string::npos)
      << error->message();
}

TEST_F(Collectives, PartsOfRanksThatAreNotThereAreAnError) {
  Kokkos::View<double*, Space> view("view", 100);
  const AllGather gather(Space(), context_, view);
  const auto error = thrown_by([&] { static_cast<void>(gather.part(context_.size())); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::usage);
}

}  // namespace
}  // namespace selvage::test
