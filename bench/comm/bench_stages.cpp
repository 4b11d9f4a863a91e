// The stages of the pipelined allreduce (Temucin et al., V-B2), each by itself, beside the whole: the paper says that C chunks take
// t1 + t2 + t3 + (C - 1) max(t1, t2, t3). Two groups of ranks, chunks of 128 KB of floats, on hosts. <r> counts ranks, 4 at least.
//
// stages/<bytes>/<r>rank: us of an allreduce
//   up, across, down: us of one chunk to the first rank of its group, between the first ranks, and back; of the rank that takes longest
//   formula: what the paper's says of these; one after the other: C (t1 + t2 + t3), as if no stage overlapped another
#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "collectives/algorithms/fold.hpp"
#include "collectives/algorithms/group_collectives.hpp"
#include "collectives/algorithms/levels.hpp"
#include "runtime/context_state.hpp"

#include <selvage/comm/allreduce.hpp>
#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Floats = Kokkos::View<float*, Space::memory_space>;
constexpr int rounds = 31;
constexpr std::int64_t chunk_elements =
    128 * 1024 / sizeof(float);  // pipelined.cpp has chunks of as many bytes

/// In either order of summation the sums are whole numbers that a float can hold.
float value_at(int rank, std::int64_t i) {
  return static_cast<float>(rank + i % 100);
}

/// One chunk, stage by stage: what a ChunkPipeline does, with a clock between.
class Stages {
 public:
  explicit Stages(const Context& context)
      : context_(context),
        executor_(Space()),
        chunk_("chunk", chunk_elements),
        tags_(context.state()->lease_tags(detail::allreduce_tags)) {
    const std::vector<std::vector<int>> groups = detail::groups_in_order(context.size(), context.size() / 2);
    const std::vector<int>& own = groups[static_cast<std::size_t>(context.rank() / (context.size() / 2))];
    inner_ = make({AllreduceAlgorithm::shared_buffer_tree, own, true});
    if (context.rank() == own.front())
      outer_ = make({AllreduceAlgorithm::recursive_doubling, {groups[0].front(), groups[1].front()}, false});
  }

  struct Seconds {
    double up = 0, across = 0, down = 0;
  };
  /// Of the slowest rank in each.
  [[nodiscard]] Seconds run() {
    for (std::int64_t i = 0; i < chunk_elements; ++i) chunk_(i) = value_at(context_.rank(), i);
    auto* const elements = reinterpret_cast<std::byte*>(chunk_.data());
    Seconds seconds;
    seconds.up = timed([&] { return inner_->combine(elements, chunk_elements); });
    seconds.across = timed([&] { return outer_ == nullptr || exchange(elements); });
    seconds.down = timed([&] { return inner_->share(elements, chunk_elements); });
    is_across_ = false;
    return seconds;
  }
  void check() {
    static_cast<void>(run());
    for (std::int64_t i = 0; i < chunk_elements; ++i) {
      float sum = 0;
      for (int rank = 0; rank < context_.size(); ++rank) sum += value_at(rank, i);
      if (chunk_(i) != sum)
        throw Error(ErrorKind::verification, fmt::format("the stages sum element {} wrongly", i));
    }
  }

 private:
  [[nodiscard]] std::unique_ptr<detail::GroupCollective> make(const detail::Level& level) {
    const auto place = std::ranges::find(level.group, context_.rank()) - level.group.begin();
    return detail::make_group_collective(level, executor_,
                                         {.context = *context_.state(),
                                          .memory = memory_,
                                          .group = level.group,
                                          .place = static_cast<int>(place),
                                          .values = detail::ElementType::fp32,
                                          .elements = detail::ElementType::fp32,
                                          .operation = ReduceOperation::sum,
                                          .most_count = chunk_elements,
                                          .tag = tags_.first()});
  }
  [[nodiscard]] bool exchange(std::byte* elements) {
    if (!is_across_) {
      if (!outer_->combine(inner_->combined(), chunk_elements)) return false;
      const detail::Part held = outer_->held(chunk_elements);
      detail::conclude_fold(detail::ElementType::fp32, ReduceOperation::sum, context_.size(),
                            outer_->combined(), elements + held.begin * std::int64_t{sizeof(float)},
                            held.count);
      is_across_ = true;
    }
    return outer_->share(elements, chunk_elements);
  }
  template <class Poll>
  [[nodiscard]] double timed(const Poll& poll) const {
    MPI_Barrier(context_.comm());
    const double begin = MPI_Wtime();
    while (!poll()) std::this_thread::yield();
    double seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, context_.comm());
    return seconds;
  }

  Context context_;
  detail::KokkosExecutor<Space> executor_;
  Floats chunk_;
  detail::Tags tags_;
  detail::MessageMemory memory_;
  std::unique_ptr<detail::GroupCollective> inner_, outer_;
  bool is_across_ = false;
};

/// An allreduce of some chunks, and its stages.
class StagesTrial {
 public:
  StagesTrial(const Context& context, std::int64_t chunks)
      : context_(context),
        chunks_(chunks),
        stages_(context),
        elements_("elements", chunks * chunk_elements),
        whole_(space_, context, elements_,
               {.algorithm = AllreduceAlgorithm::pipelined,
                .allow_reordering = true,
                .group_size = context.size() / 2}) {}

  void check() {
    stages_.check();
    for (std::size_t i = 0; i < elements_.size(); ++i)
      elements_(i) = value_at(context_.rank(), static_cast<std::int64_t>(i));
    whole_.run(space_);
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      float sum = 0;
      for (int rank = 0; rank < context_.size(); ++rank) sum += value_at(rank, static_cast<std::int64_t>(i));
      if (elements_(i) != sum)
        throw Error(ErrorKind::verification, fmt::format("element {} is summed wrongly", i));
    }
  }
  [[nodiscard]] std::map<std::string, double> round() {
    const auto repeats = static_cast<int>(std::max<std::int64_t>(1, 32 / chunks_));
    Kokkos::deep_copy(elements_, 0);
    MPI_Barrier(context_.comm());
    const double begin = MPI_Wtime();
    for (int repeat = 0; repeat < repeats; ++repeat) whole_.run(space_);
    double whole = (MPI_Wtime() - begin) / repeats;
    MPI_Allreduce(MPI_IN_PLACE, &whole, 1, MPI_DOUBLE, MPI_MAX, context_.comm());
    const auto [up, across, down] = stages_.run();
    const auto count = static_cast<double>(chunks_);
    const double sum = up + across + down, formula = sum + (count - 1) * std::max({up, across, down});
    return {{"pipelined, us", whole * 1e6},
            {"up, us", up * 1e6},
            {"across, us", across * 1e6},
            {"down, us", down * 1e6},
            {"formula, us", formula * 1e6},
            {"one after the other, us", count * sum * 1e6},
            {"of the formula, %", 100 * whole / formula}};
  }

 private:
  Context context_;
  Space space_;
  std::int64_t chunks_;
  Stages stages_;
  Floats elements_;
  Allreduce whole_;
};

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    if (context.size() < 4 || context.size() % 2 != 0)
      throw selvage::Error(selvage::ErrorKind::usage,
                           fmt::format("two groups of two ranks or more, not {} ranks", context.size()));
    for (const std::int64_t chunks : {1, 4, 16, 64, 256}) {
      const std::int64_t bytes = chunks * chunk_elements * static_cast<std::int64_t>(sizeof(float));
      register_measurement(fmt::format("stages/{}/{}", bytes, ranks_text(context.machine())), rounds, [=] {
        const auto trial = std::make_shared<StagesTrial>(context, chunks);
        return Measurement{.check = [trial] { trial->check(); },
                           .round = [trial] { return trial->round(); },
                           .first = "pipelined, us"};
      });
    }
  });
}
