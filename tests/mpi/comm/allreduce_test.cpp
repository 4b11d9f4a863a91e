#include "allreduce_oracle.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace selvage::test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Algorithm = AllreduceAlgorithm;
using Operation = ReduceOperation;

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

/// A View of `count` elements, `offset` of them behind the start of its memory; where peers map it, or not.
template <class T>
class Elements {
 public:
  using View = Kokkos::View<T*, Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Elements(const Context& context, std::int64_t count, std::int64_t offset, bool is_shared)
      : context_(context), mirror_("mirror", static_cast<std::size_t>(count)) {
    const auto all = static_cast<std::size_t>(count + offset);
    if (is_shared && on_host) {
      shared_ = context.allocate_shared(std::max<std::size_t>(1, all * sizeof(T)));
      view = View(static_cast<T*>(shared_) + offset, static_cast<std::size_t>(count));
    } else {
      owned_ = Kokkos::View<T*, Space::memory_space>("elements", all);
      view = View(owned_.data() + offset, static_cast<std::size_t>(count));
    }
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() {
    if (shared_ != nullptr) context_.deallocate_shared(shared_);
  }

  void fill(int rank, int round) {
    for (std::size_t i = 0; i < mirror_.size(); ++i)
      mirror_(i) = value_at<T>(rank, static_cast<std::int64_t>(i), round);
    Kokkos::deep_copy(Space(), view, mirror_);
    Space().fence();
  }
  /// The first wrong element; -1 if there is none.
  std::int64_t first_wrong(Operation operation, int ranks, int round) {
    Kokkos::deep_copy(Space(), mirror_, view);
    Space().fence();
    for (std::size_t i = 0; i < mirror_.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      if (!same_bits(mirror_(i), expected_at<T>(operation, ranks, index, round))) return index;
    }
    return -1;
  }

  View view;

 private:
  const Context& context_;
  void* shared_ = nullptr;
  Kokkos::View<T*, Space::memory_space> owned_;
  Kokkos::View<T*, Kokkos::HostSpace> mirror_;
};

struct Case {
  std::optional<Algorithm> algorithm;
  bool is_shared;
  [[nodiscard]] std::string name() const {
    return (algorithm ? std::string(to_string(*algorithm)) : "chosen") + (is_shared ? "_shared" : "");
  }
};

class AllreduceConformance : public testing::TestWithParam<Case> {
 protected:
  AllreduceConformance() : context_(MPI_COMM_WORLD) {}

  void SetUp() override {
    if (const auto algorithm = GetParam().algorithm) {
      Kokkos::View<double*, Space> view("probe", 1);
      const auto error = thrown_by([&] { Allreduce(Space(), context_, {.algorithm = algorithm}, view); });
      if (error && error->kind() == ErrorKind::unsupported) GTEST_SKIP() << error->message();
    }
  }

  template <class T>
  void expect_right(Operation operation, std::int64_t count, std::int64_t offset = 0, int rounds = 3,
                    int multiprocessors = 0) {
    Elements<T> elements(context_, count, offset, GetParam().is_shared);
    Allreduce allreduce(
        Space(), context_,
        {.operation = operation, .algorithm = GetParam().algorithm, .multiprocessors = multiprocessors},
        elements.view);
    for (int round = 0; round < rounds; ++round) {
      elements.fill(context_.rank(), round);
      allreduce.run(Space());
      ASSERT_EQ(elements.first_wrong(operation, context_.size(), round), -1)
          << to_string(operation) << " of " << count << " elements of " << sizeof(T) << " bytes, offset "
          << offset << ", round " << round << "\n"
          << allreduce.explain();
      allreduce.check();
    }
  }

  template <class T>
  void expect_right_for_all() {
    for (const Operation operation :
         {Operation::sum, Operation::average, Operation::min, Operation::max, Operation::product}) {
      for (const std::int64_t count : {0, 1, 2, 3, 17, 128, 1000, 4099}) expect_right<T>(operation, count);
      expect_right<T>(operation, 1001, 1);
    }
    // More than the slots of any algorithm hold.
    expect_right<T>(Operation::sum, 280'001, 3, 1);
    // More than its blocks have slots for.
    constexpr std::int64_t megabyte = (1 << 20) / sizeof(T);
    if (!on_host) expect_right<T>(Operation::sum, megabyte + 3, 0, 2, 1);
  }

  const Context context_;
};

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, AllreduceConformance,
                         testing::Values(Case{{}, false}, Case{{}, true}, Case{Algorithm::one_shot, false},
                                         Case{Algorithm::one_shot, true}, Case{Algorithm::two_shot, false},
                                         Case{Algorithm::two_shot, true},
                                         Case{Algorithm::one_shot_ll128, false},
                                         Case{Algorithm::two_shot_ll128, false},
                                         Case{Algorithm::two_shot_push, false},
                                         Case{Algorithm::hierarchical, false}, Case{Algorithm::mpi, false}),
                         [](const auto& tested) { return tested.param.name(); });

TEST_P(AllreduceConformance, OfDoubles) {
  expect_right_for_all<double>();
}
TEST_P(AllreduceConformance, OfFloats) {
  expect_right_for_all<float>();
}
TEST_P(AllreduceConformance, OfHalves) {
  expect_right_for_all<Half>();
}
TEST_P(AllreduceConformance, OfBfloat16) {
  expect_right_for_all<Bfloat16>();
}
TEST_P(AllreduceConformance, OfInt32) {
  expect_right_for_all<std::int32_t>();
}
TEST_P(AllreduceConformance, OfInt64) {
  expect_right_for_all<std::int64_t>();
}

/// Back to back, of different sizes, one started before the other is finished.
TEST_P(AllreduceConformance, OverlapsWithAnother) {
  Elements<float> small(context_, 33, 0, GetParam().is_shared);
  Elements<double> large(context_, 50'003, 0, GetParam().is_shared);
  Allreduce first(Space(), context_, {.algorithm = GetParam().algorithm}, small.view);
  Allreduce second(Space(), context_, {.operation = Operation::max, .algorithm = GetParam().algorithm},
                   large.view);
  for (int round = 0; round < 20; ++round) {
    small.fill(context_.rank(), round);
    large.fill(context_.rank(), round);
    auto pending_second = second.start(Space());
    auto pending_first = first.start(Space());
    second.finish(Space(), std::move(pending_second));
    first.finish(Space(), std::move(pending_first));
    ASSERT_EQ(small.first_wrong(Operation::sum, context_.size(), round), -1) << round;
    ASSERT_EQ(large.first_wrong(Operation::max, context_.size(), round), -1) << round;
  }
}

class AllreduceErrors : public testing::Test {
 protected:
  AllreduceErrors() : context_(MPI_COMM_WORLD) {}
  [[nodiscard]] bool is_last() const { return context_.rank() == context_.size() - 1; }

  template <class View>
  std::string refusal(ErrorKind kind, const AllreduceOptions& options, const View& view) {
    return message_on_all_ranks(kind, [&] { Allreduce(Space(), context_, options, view); });
  }
  const Context context_;
};

TEST_F(AllreduceErrors, NameTheRanksWhoseCountsDiffer) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const Kokkos::View<double*, Space> view("gradients", is_last() ? 11 : 10);
  const std::string message = refusal(ErrorKind::usage, {}, view);
  EXPECT_NE(message.find("10 on rank 0, 11 on rank " + std::to_string(context_.size() - 1)),
            std::string::npos)
      << message;
}
TEST_F(AllreduceErrors, NameTheRanksWhoseOperationsDiffer) {
  if (context_.size() == 1) GTEST_SKIP() << "for several ranks";
  const Kokkos::View<double*, Space> view("gradients", 10);
  const std::string message =
      refusal(ErrorKind::usage, {.operation = is_last() ? Operation::max : Operation::min}, view);
  EXPECT_NE(message.find("the operation: min on rank 0, max on rank"), std::string::npos) << message;
}
TEST_F(AllreduceErrors, RefuseGaps) {
  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> all("all", 8, 8);
  const auto some = Kokkos::subview(all, std::pair(0, 4), Kokkos::ALL());
  const std::string message = refusal(ErrorKind::usage, {}, some);
  EXPECT_NE(message.find("gaps"), std::string::npos) << message;
}
TEST_F(AllreduceErrors, ListTheAlgorithmsForAnUnknownOne) {
  const ScopedVariable variable("SELVAGE_ALLREDUCE", "telepathy");
  const Kokkos::View<double*, Space> view("gradients", 10);
  const std::string message = refusal(ErrorKind::input, {}, view);
  EXPECT_NE(
      message.find("one_shot, one_shot_ll128, two_shot, two_shot_ll128, two_shot_push, hierarchical, mpi"),
      std::string::npos)
      << message;
}

TEST(Allreduce, FollowsTheEnvironment) {
  const Context context(MPI_COMM_WORLD);
  const ScopedVariable variable("SELVAGE_ALLREDUCE", "mpi");
  const Kokkos::View<double*, Space> view("gradients", 10);
  const Allreduce allreduce(Space(), context, {}, view);
  EXPECT_EQ(allreduce.algorithm(), Algorithm::mpi);
  EXPECT_NE(allreduce.explain().find("forced by SELVAGE_ALLREDUCE"), std::string::npos)
      << allreduce.explain();
}

/// Each host's elements leave it once, and the result comes back once: no allreduce of two hosts sends less.
TEST(Allreduce, SendsTheLeastBetweenTwoHosts) {
  const Context context(MPI_COMM_WORLD);
  if (context.machine().host_count() != 2) GTEST_SKIP() << "for two hosts";
  constexpr std::int64_t count = 300'007;
  const Kokkos::View<float*, Space> view("gradients", count);
  Allreduce allreduce(Space(), context, {.algorithm = Algorithm::hierarchical}, view);
  for (int round = 0; round < 3; ++round) allreduce.run(Space());
  std::int64_t sent = allreduce.bytes_between_hosts();
  MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sent, 3 * 2 * count * static_cast<std::int64_t>(sizeof(float)));
}

TEST(Allreduce, NamesTheRankThatNeverCalls) {
  const ScopedVariable variable("SELVAGE_TIMEOUT_MS", "300");
  const Context context(MPI_COMM_WORLD);
  if (context.size() == 1) GTEST_SKIP() << "nobody to wait for";
  const Kokkos::View<double*, Space> view("gradients", 1000);
  Allreduce allreduce(Space(), context, {}, view);
  const int last = context.size() - 1;
  int names_it = 0;
  if (context.rank() != last) {
    const auto error = thrown_by([&] {
      allreduce.run(Space());
      Space().fence();
      allreduce.check();
    });
    EXPECT_TRUE(error.has_value());
    const std::string message = error ? error->message() : "nothing was thrown";
    EXPECT_EQ(error ? to_string(error->kind()) : "", to_string(ErrorKind::timeout)) << message;
    names_it = message.find("rank " + std::to_string(last)) != std::string::npos ? 1 : 0;
    // Host by host, others wait for those that wait for it.
    EXPECT_TRUE(names_it == 1 || allreduce.algorithm() == Algorithm::hierarchical) << message;
  }
  MPI_Allreduce(MPI_IN_PLACE, &names_it, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(names_it, 1);
}

}  // namespace
}  // namespace selvage::test
