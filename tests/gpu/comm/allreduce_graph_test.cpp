#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/gradient_buckets.hpp>

#include <Kokkos_Core.hpp>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace selvage {
namespace {

using View = Kokkos::View<float*, Kokkos::CudaSpace>;
using Value = Kokkos::View<int, Kokkos::CudaSpace>;

/// Whole numbers that fp32 adds exactly.
struct Fill {
  View view;
  Value round;
  int rank;
  KOKKOS_FUNCTION void operator()(int i) const {
    view(i) = static_cast<float>((rank + 1) * (round() % 100 + i % 1000));
  }
};
struct Check {
  View view;
  Value round;
  Value wrong;
  int ranks;
  KOKKOS_FUNCTION void operator()(int i) const {
    const int sum = ranks * (ranks + 1) / 2;
    if (view(i) != static_cast<float>(sum * (round() % 100 + i % 1000))) Kokkos::atomic_inc(&wrong());
  }
};
struct Next {
  Value round;
  KOKKOS_FUNCTION void operator()(int) const { ++round(); }
};

/// Rounds of other values each, enqueued once and replayed.
class Replay {
 public:
  explicit Replay(const Context& context) : context_(context), space_(make_stream()) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() { space_.fence(); }

  [[nodiscard]] const Kokkos::Cuda& space() const { return space_; }
  void fill(const View& view) const {
    Kokkos::parallel_for("test::fill", range(view), Fill{view, round_, context_.rank()});
  }
  void check(const View& view) const {
    Kokkos::parallel_for("test::check", range(view), Check{view, round_, wrong_, context_.size()});
  }
  /// \param prepare  rounds outside the graph
  void run(const std::function<void()>& enqueue, int prepare) const {
    const auto whole_round = [&] {
      enqueue();
      Kokkos::parallel_for("test::next", Kokkos::RangePolicy<Kokkos::Cuda>(space_, 0, 1), Next{round_});
    };
    Kokkos::fence("test::prepared");
    for (int i = 0; i < prepare; ++i) whole_round();
    space_.fence();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(space_.cuda_stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    whole_round();
    ASSERT_EQ(cudaStreamEndCapture(space_.cuda_stream(), &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    // Ranks that share a GPU take turns on it by time slices.
    const bool is_shared = context_.size() > 1 && context_.machine().same_gpu(0, context_.size() - 1);
    const int replays = is_shared ? 100 : 1000;
    for (int i = 0; i < replays; ++i)
      ASSERT_EQ(cudaGraphLaunch(executable, space_.cuda_stream()), cudaSuccess);
    // And once more without it.
    whole_round();
    space_.fence();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    int wrong = -1;
    int rounds = 0;
    Kokkos::deep_copy(wrong, wrong_);
    Kokkos::deep_copy(rounds, round_);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(rounds, prepare + replays + 1);
  }

 private:
  static Kokkos::Cuda make_stream() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return Kokkos::Cuda(stream);
  }
  [[nodiscard]] Kokkos::RangePolicy<Kokkos::Cuda> range(const View& view) const {
    return {space_, 0, view.extent_int(0)};
  }

  const Context& context_;
  Kokkos::Cuda space_;
  Value round_{"round"};
  Value wrong_{"wrong"};
};

struct Form {
  std::string name;
  AllreduceOptions options;
};
std::vector<Form> forms() {
  using enum AllreduceAlgorithm;
  std::vector<Form> all;
  for (const auto algorithm : {one_shot, one_shot_ll128, two_shot, two_shot_ll128, two_shot_push,
                               two_shot_copy_engine, copy_engine, recursive_doubling_ll, multi_ring})
    all.push_back({std::string(to_string(algorithm)), {.algorithm = algorithm, .allow_reordering = true}});
  all.push_back({"hierarchical_two_shot_two_shot",
                 {.algorithm = hierarchical,
                  .allow_reordering = true,
                  .inner = two_shot,
                  .outer = two_shot,
                  .group_size = 2}});
  return all;
}

class AllreduceGraph : public testing::TestWithParam<Form> {};

TEST_P(AllreduceGraph, IsReplayedAThousandTimes) {
  const Context context(MPI_COMM_WORLD);
  if (GetParam().options.group_size >= context.size()) GTEST_SKIP() << "needs ranks of several groups";
  for (const int count : {5, 3000, 700'001}) {
    const Replay replay(context);
    const View view("elements", static_cast<std::size_t>(count));
    Allreduce allreduce(replay.space(), context, view, GetParam().options);
    replay.run(
        [&] {
          replay.fill(view);
          allreduce.run(replay.space());
          replay.check(view);
        },
        1);
    EXPECT_NO_THROW(allreduce.check());
  }
}
INSTANTIATE_TEST_SUITE_P(EveryForm, AllreduceGraph, testing::ValuesIn(forms()),
                         [](const auto& tested) { return tested.param.name; });

TEST(GradientBucketsGraph, IsReplayedAThousandTimes) {
  const Context context(MPI_COMM_WORLD);
  const Replay replay(context);
  // The first two follow each other in memory; the last two are packed.
  const View both("both", 1500);
  const std::vector<View> gradients{Kokkos::subview(both, std::pair(0, 1000)),
                                    Kokkos::subview(both, std::pair(1000, 1500)), View("third", 70'000),
                                    View("fourth", 33), View("fifth", 40)};
  GradientBuckets buckets(replay.space(), context, {.operation = ReduceOperation::sum, .bucket_bytes = 8000},
                          gradients);
  const auto step = [&] {
    for (int gradient = 4; gradient >= 0; --gradient) {
      replay.fill(gradients[static_cast<std::size_t>(gradient)]);
      buckets.ready(replay.space(), gradient);
    }
    const std::span<const int> last = buckets.finish_all_but_last(replay.space());
    for (int gradient = 0; gradient < 5; ++gradient)
      if (std::ranges::find(last, gradient) == last.end())
        replay.check(gradients[static_cast<std::size_t>(gradient)]);
    buckets.finish(replay.space());
    for (const int gradient : last) replay.check(gradients[static_cast<std::size_t>(gradient)]);
  };
  // Buckets are made in the first step, kernels loaded in the second.
  replay.run(step, 2);
  EXPECT_NO_THROW(buckets.check());
  EXPECT_EQ(buckets.report().size(), 3U);
}

}  // namespace
}  // namespace selvage
