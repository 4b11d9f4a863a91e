// How much of a reduction goes on behind a computation, on GPUs.
//
// overlap/fp32/<g>gpu/<bytes>/[<algorithm>/]{default,sm<multiprocessors>}: GradientBuckets of one gradient each; beside every bucket that is
// reduced runs a kernel that takes as long, on another instance. "hidden, %" is the share of the reduction's time by which
// both together are shorter than one after the other; NCCL is given the same.

#include "../support/figure.hpp"
#include "../support/graph.hpp"
#include "../support/mpi_main.hpp"
#include "nccl_allreduce.hpp"
#include "nccl_version.hpp"

#include <selvage/comm/gradient_buckets.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Gradient = Kokkos::View<float*>;

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;
constexpr int buckets_per_step = 4;
constexpr int rounds = 11;

constexpr int items = 132 * 2048 * 8;
constexpr int items_per_result = 256;
constexpr float factor = 0.999F;
constexpr float summand = 0.5F;

/// Arithmetic nearly only: many short blocks, as those of a matrix product.
struct Compute {
  int iterations;
  Kokkos::View<float*> results;
  KOKKOS_FUNCTION void operator()(int i) const {
    float value = static_cast<float>(i);
    for (int k = 0; k < iterations; ++k) value = value * factor + summand;
    if (i % items_per_result == 0) results(i / items_per_result) = value;
  }
};

/// What Compute leaves, in closed form. Roundings add up to a few times 1e-4 at most, since each step keeps `factor` of them.
struct CountWrongResults {
  int iterations;
  Kokkos::View<float*> results;
  KOKKOS_FUNCTION void operator()(int i, int& wrong) const {
    const double limit = static_cast<double>(summand) / (1 - static_cast<double>(factor));
    const double start = static_cast<double>(i) * items_per_result;
    const double expected = limit + (start - limit) * Kokkos::pow(static_cast<double>(factor), iterations);
    wrong += Kokkos::fabs(results(i) - expected) <= 1e-3 * expected ? 0 : 1;
  }
};

struct CountWrong {
  Gradient gradient;
  float expected;
  KOKKOS_FUNCTION void operator()(int i, int& wrong) const { wrong += gradient(i) == expected ? 0 : 1; }
};

struct Setting {
  std::int64_t bytes;
  std::optional<AllreduceAlgorithm> algorithm;
  std::optional<int> multiprocessors;
};

class Overlap {
 public:
  Overlap(const Context& context, const Setting& setting)
      : context_(context), bytes_(setting.bytes), space_(make_instance()) {
    for (int i = 0; i < buckets_per_step; ++i)
      gradients_.emplace_back("gradient", static_cast<std::size_t>(bytes_) / sizeof(float));
    buckets_.emplace(
        space_, context,
        GradientBuckets::Options{
            .algorithm = setting.algorithm, .max_blocks = setting.multiprocessors, .bucket_bytes = bytes_},
        gradients_);
    find_iterations();
  }

  Overlap(const Overlap&) = delete;
  Overlap& operator=(const Overlap&) = delete;

  [[nodiscard]] Figure figure() {
    std::vector<Contender> contenders{
        {"both", [this] { step(iterations_); }, [this] { verify(iterations_); }},
        {"reduce", [this] { step(0); }, [this] { verify(0); }},
        {"compute", [this] { compute_alone(); }, [this] { verify_compute(); }}};
    for (const Gradient& gradient : gradients_) {
      if (auto call = make_nccl_allreduce(context_, other_, gradient)) nccl_.push_back(std::move(call));
    }
    if (!nccl_.empty()) {
      contenders.push_back({"NCCL reduce", [this] { nccl_step(false); }, [this] { verify_nccl(false); }});
      contenders.push_back({"NCCL both", [this] { nccl_step(true); }, [this] { verify_nccl(true); }});
    }
    const auto hidden = [has_nccl = !nccl_.empty()](const Times& times) {
      const auto share = [&](const std::string& prefix) {
        const double reduce = times.at(prefix + "reduce");
        return 100 * (reduce + times.at("compute") - times.at(prefix + "both")) / reduce;
      };
      std::map<std::string, double> shares{{"hidden, %", share("")}};
      if (has_nccl) shares["NCCL hidden, %"] = share("NCCL ");
      return shares;
    };
    return {.contenders = contenders,
            .label = std::string(to_string(buckets_->report().front().algorithm)),
            .derive = hidden};
  }

 private:
  void compute() const {
    Kokkos::parallel_for("bench::compute", Kokkos::RangePolicy<Space>(space_, 0, items),
                         Compute{iterations_, results_});
  }
  void compute_alone() const {
    for (int i = 0; i < buckets_per_step; ++i) compute();
  }
  void step(int iterations) {
    for (int i = 0; i < buckets_per_step; ++i) {
      buckets_->ready(space_, i);
      if (iterations > 0) compute();
    }
    buckets_->finish(space_);
  }
  void nccl_step(bool computes) const {
    for (const auto& call : nccl_) {
      call();
      if (computes) compute();
    }
  }

  void find_iterations() {
    iterations_ = 64;
    for (int round = 0; round < 4; ++round) {
      timing::Turns turns(context_.comm(),
                          {{"reduce", [this] { step(0); }}, {"compute", [this] { compute_alone(); }}});
      const Times times = turns.round();
      iterations_ = std::max(1, static_cast<int>(iterations_ * times.at("reduce") / times.at("compute")));
    }
  }

  void verify(int iterations) {
    require_sums(context_.size(), [&] { step(iterations); });
    if (iterations > 0) require_results();
  }
  void verify_nccl(bool computes) {
    require_sums(1, [&] { nccl_step(computes); });
    if (computes) require_results();
  }
  void verify_compute() const {
    forget_results();
    compute_alone();
    require_results();
  }
  void forget_results() const { Kokkos::deep_copy(results_, -1.0F); }
  void require_results() const {
    space_.fence("bench::computed");
    int wrong = 0;
    Kokkos::parallel_reduce("bench::verify computation",
                            Kokkos::RangePolicy<Space>(0, results_.extent_int(0)),
                            CountWrongResults{iterations_, results_}, wrong);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, context_.comm());
    if (wrong > 0)
      throw Error(ErrorKind::verification, fmt::format("a computation leaves {} wrong results", wrong));
  }
  /// \param divisor  of the sum over ranks, for what `run` leaves
  template <class Run>
  void require_sums(int divisor, const Run& run) {
    const int ranks = context_.size();
    for (int round = 0; round < 2; ++round) {
      for (const Gradient& gradient : gradients_)
        Kokkos::deep_copy(gradient, static_cast<float>(context_.rank() + round));
      forget_results();
      Kokkos::fence();
      MPI_Barrier(context_.comm());
      run();
      Kokkos::fence();
      const float expected =
          static_cast<float>(ranks * (ranks - 1) / 2 + ranks * round) / static_cast<float>(divisor);
      int wrong = 0;
      for (const Gradient& gradient : gradients_) {
        int here = 0;
        Kokkos::parallel_reduce("bench::verify", Kokkos::RangePolicy<Space>(0, gradient.extent_int(0)),
                                CountWrong{gradient, expected}, here);
        wrong += here;
      }
      MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, context_.comm());
      if (wrong > 0)
        throw Error(ErrorKind::verification, fmt::format("{} wrong elements of {} bytes", wrong, bytes_));
    }
  }

  Context context_;
  std::int64_t bytes_;
  Space space_;
  std::vector<Gradient> gradients_;
  Kokkos::View<float*> results_{"results", items / items_per_result};
  int iterations_ = 0;
  std::optional<GradientBuckets> buckets_;
  Space other_ = make_instance();
  std::vector<std::function<void()>> nccl_;
};

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    if (on_host)
      throw selvage::Error(selvage::ErrorKind::unsupported,
                           "it is for GPUs: on hosts the caller's own thread reduces, beside nothing");
    record_nccl_version();
    const selvage::Context shared(comm);
    using enum selvage::AllreduceAlgorithm;
    for (const std::int64_t bytes : {std::int64_t{25} << 20, std::int64_t{4} << 20}) {
      for (const Setting& setting :
           {Setting{bytes, {}, {}}, Setting{bytes, {}, 0}, Setting{bytes, {}, 8}, Setting{bytes, {}, 16},
            Setting{bytes, {}, 32}, Setting{bytes, {}, 64}, Setting{bytes, two_shot_copy_engine, 8},
            Setting{bytes, copy_engine, 0}}) {
        const std::string algorithm =
            setting.algorithm ? fmt::format("{}/", to_string(*setting.algorithm)) : "";
        const std::string blocks =
            setting.multiprocessors ? fmt::format("sm{}", *setting.multiprocessors) : "default";
        const std::string name =
            fmt::format("overlap/fp32/{}gpu/{}/{}{}", shared.size(), bytes, algorithm, blocks);
        register_figure(name, comm, rounds, [=] {
          const auto overlap = std::make_shared<Overlap>(shared, setting);
          Figure figure = overlap->figure();
          figure.keeps = overlap;
          return figure;
        });
      }
    }
  });
}
