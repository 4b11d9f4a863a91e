#include <selvage/error.hpp>
#include <selvage/timing/trial.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

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

double time_batch(MPI_Comm comm, const Timed& timed, int calls) {
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  for (int call = 0; call < calls; ++call) timed.run();
  Kokkos::fence("bench::end of a batch");
  return slowest_rank(comm, (MPI_Wtime() - start) / calls / timed.units);
}

}  // namespace

Contender::Contender(std::string its_name, std::function<void()> work, Check its_check, int units_per_call)
    : Timed{std::move(its_name), std::move(work), units_per_call}, check(std::move(its_check)) {
  if (!run) throw Error(ErrorKind::usage, fmt::format("'{}' has nothing to run", name));
  if (!check) throw Error(ErrorKind::usage, fmt::format("'{}' has no check", name));
}

Turns::Turns(MPI_Comm comm, std::vector<Timed> all, double batch_seconds)
    : comm_(comm), all_(std::move(all)) {
  for (const Timed& timed : all_) {
    time_batch(comm, timed, 10);
    const double call_seconds = time_batch(comm, timed, 10) * timed.units;
    // An even number, for those that exchange two Views in turns.
    calls_.push_back(2 * std::clamp(static_cast<int>(batch_seconds / call_seconds / 2), 1, 5'000));
  }
}

std::vector<std::size_t> shuffled(std::size_t size, unsigned round) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::minstd_rand dice(round);
  std::ranges::shuffle(order, dice);
  return order;
}

Times Turns::round() {
  Times times;
  for (const std::size_t i : shuffled(all_.size(), ++rounds_))
    times[all_[i].name] = time_batch(comm_, all_[i], calls_[i]);
  return times;
}

Trial::Trial(MPI_Comm comm, std::vector<Contender> contenders, double batch_seconds)
    : contenders_(std::move(contenders)),
      turns_(comm, std::vector<Timed>(contenders_.begin(), contenders_.end()), batch_seconds) {}

void Trial::check() const {
  for (const Contender& contender : contenders_) contender.check();
}

}  // namespace selvage::timing
