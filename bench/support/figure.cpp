#include "figure.hpp"

#include <selvage/error.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace selvage::bench {
namespace {

/// (largest - smallest) / median, of which Google Benchmark has the median.
double relative_spread(const std::vector<double>& samples) {
  std::vector<double> sorted(samples);
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  const double median = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return (sorted.back() - sorted.front()) / median;
}

/// The rounds of one benchmark, of which Google Benchmark calls one at a time.
class Rounds {
 public:
  Rounds(int rounds, std::function<Measurement()> make) : rounds_(rounds), make_(std::move(make)) {}

  void next(benchmark::State& state) {
    if (done_ == 0) begin();
    const std::map<std::string, double> values = measurement_->round();
    for (auto _ : state) state.SetIterationTime(values.at(measurement_->first) * 1e-6);
    if (++done_ == rounds_) measurement_->check();
    for (const auto& [name, value] : values) state.counters[name] = value;
    state.counters["verified"] = 1;
    state.SetLabel(measurement_->label);
    if (done_ == rounds_) measurement_.reset();
  }

 private:
  void begin() {
    measurement_ = make_();
    if (!measurement_->check) throw Error(ErrorKind::usage, "a measurement has no check");
    measurement_->check();
  }

  int rounds_;
  std::function<Measurement()> make_;
  std::optional<Measurement> measurement_;
  int done_ = 0;
};

Measurement measurement_of(MPI_Comm comm, Figure figure) {
  struct Kept {
    std::shared_ptr<void> used;
    Trial trial;  // goes first
  };
  const std::string first = figure.contenders.front().name + ", us";
  const auto kept = std::make_shared<Kept>(std::move(figure.keeps),
                                           Trial(comm, std::move(figure.contenders), figure.batch_seconds));
  const auto round = [kept, derive = std::move(figure.derive)] {
    const Times times = kept->trial.round();
    std::map<std::string, double> values;
    if (derive) values = derive(times);
    for (const auto& [name, seconds] : times) values[name + ", us"] = seconds * 1e6;
    return values;
  };
  return {.check = [kept] { kept->trial.check(); }, .round = round, .first = first, .label = figure.label};
}

}  // namespace

Contender copy_floor(std::size_t bytes) {
  const auto from = std::make_shared<std::vector<std::byte>>(bytes, std::byte{1});
  const auto to = std::make_shared<std::vector<std::byte>>(bytes);
  const auto copy = [from, to, bytes] {
    std::memcpy(to->data(), from->data(), bytes);
    benchmark::DoNotOptimize(to->data());
    benchmark::ClobberMemory();
  };
  const auto check = [copy, from, to] {
    copy();
    if (*from != *to) throw Error(ErrorKind::verification, "memcpy leaves other bytes");
  };
  return {"floor: memcpy", copy, check};
}

void register_measurement(const std::string& name, int rounds, std::function<Measurement()> make) {
  const auto all = std::make_shared<Rounds>(rounds, std::move(make));
  benchmark::RegisterBenchmark(name.c_str(), [all](benchmark::State& state) { all->next(state); })
      ->Iterations(1)
      ->Repetitions(rounds)
      ->ReportAggregatesOnly()
      ->ComputeStatistics("spread", relative_spread, benchmark::kPercentage)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

void register_figure(const std::string& name, MPI_Comm comm, int rounds, std::function<Figure()> make) {
  const auto kept = std::make_shared<std::shared_ptr<void>>();
  register_measurement(name, rounds, [comm, make = std::move(make), kept] {
    Figure figure = make();
    if (figure.keeps_to_the_end) *kept = figure.keeps;
    return measurement_of(comm, std::move(figure));
  });
}

}  // namespace selvage::bench
