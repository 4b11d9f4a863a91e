#include <selvage/timing/trial.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace selvage::timing {
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

}  // namespace

Trial::Trial(MPI_Comm comm, std::vector<Contender> contenders, double batch_seconds)
    : comm_(comm), contenders_(std::move(contenders)) {
  for (const Contender& contender : contenders_) {
    time_batch(comm, contender, 10);
    const double call_seconds = time_batch(comm, contender, 10) * contender.units;
    // An even number, for those that exchange two Views in turns.
    calls_.push_back(2 * std::clamp(static_cast<int>(batch_seconds / call_seconds / 2), 1, 5'000));
  }
}

void Trial::check() const {
  for (const Contender& contender : contenders_) contender.check();
}

Times Trial::round() {
  std::vector<std::size_t> order(contenders_.size());
  std::iota(order.begin(), order.end(), 0);
  // The same on all ranks.
  std::minstd_rand dice(++rounds_);
  std::ranges::shuffle(order, dice);
  Times times;
  for (const std::size_t i : order) times[contenders_[i].name] = time_batch(comm_, contenders_[i], calls_[i]);
  return times;
}

}  // namespace selvage::timing
