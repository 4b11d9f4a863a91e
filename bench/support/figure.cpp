#include "figure.hpp"

#include <benchmark/benchmark.h>

#include <utility>

namespace selvage::bench {

void register_figure(const std::string& name, std::vector<Record>& records, std::function<Figure()> measure) {
  const auto run = [&records, measure = std::move(measure)](benchmark::State& state) {
    Figure figure = measure();
    for (auto _ : state) state.SetIterationTime(figure.seconds);
    for (const auto& [counter, value] : figure.counters) state.counters[counter] = value;
    state.SetLabel(figure.label);
    for (Record& record : figure.records) records.push_back(std::move(record));
  };
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace selvage::bench
