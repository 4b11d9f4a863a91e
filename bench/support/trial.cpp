#include "trial.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>

namespace selvage::bench {
namespace {

double slowest_rank(MPI_Comm comm, double seconds) {
  double slowest = 0;
  MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return slowest;
}

double time_batch(MPI_Comm comm, const Contender& contender, int calls) {
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  for (int call = 0; call < calls; ++call) contender.run();
  Kokkos::fence("bench::end of a batch");
  return slowest_rank(comm, (MPI_Wtime() - start) / calls / contender.units);
}

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Trial::Trial(MPI_Comm comm, const std::vector<Contender>& contenders, int rounds, double batch_seconds) {
  std::vector<int> calls;
  for (const Contender& contender : contenders) {
    time_batch(comm, contender, 10);
    const double call_seconds = time_batch(comm, contender, 10) * contender.units;
    calls.push_back(std::clamp(static_cast<int>(batch_seconds / call_seconds), 1, 10'000));
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      samples_[contenders[i].name].push_back(time_batch(comm, contenders[i], calls[i]));
    }
  }
}

double Trial::median(const std::string& name) const {
  return middle(samples(name));
}

double Trial::spread(const std::string& name) const {
  const auto [least, most] = std::ranges::minmax(samples(name));
  return (most - least) / median(name);
}

double Trial::speedup(const std::string& name, const std::string& other) const {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < samples(name).size(); ++round) {
    ratios.push_back(samples(other)[round] / samples(name)[round]);
  }
  return middle(ratios);
}

}  // namespace selvage::bench
