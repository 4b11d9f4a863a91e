// Sums in place: ours as it is chosen by default, each of our algorithms, and what others give, in turns.
//
// allreduce/fp32/<r>rank/<bytes>: on hosts, beside MPI_Allreduce. Selvage's View lies where peers map it (allocate_shared); "own
// memory" is an ordinary View. SELVAGE_ALLREDUCE_REORDERING=yes adds the algorithms that
// combine in another order than by rank; SELVAGE_LOGICAL_HOSTS=2x2 those between hosts, by MPI's shared memory here
//
// allreduce/{fp32,bf16}/<g>gpu/<bytes>[/graph]: on GPUs, beside NCCL, as it is and with symmetric windows; up to 1 MB in a
// graph, above call by call

#include "../support/figure.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"
#include "allreduce_trial.hpp"
#include "nccl_version.hpp"

#include <memory>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int rounds = 11;

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

/// On hosts every power of two, since rules choose between algorithms there.
std::vector<std::int64_t> sizes() {
  if (on_host) {
    std::vector<std::int64_t> bytes;
    for (std::int64_t each = 64; each <= 16 * mib; each *= 2) bytes.push_back(each);
    return bytes;
  }
  return {64,      1 * kib,  4 * kib,  16 * kib, 64 * kib,  256 * kib, 1 * mib,
          4 * mib, 16 * mib, 25 * mib, 64 * mib, 256 * mib, 1024 * mib};
}

template <class T>
void add_benchmark(const Context& context, std::int64_t bytes) {
  // What goes from host to host waits for messages, which no graph can.
  const bool in_graph = !on_host && bytes <= mib && context.machine().host_count() == 1;
  register_figure(AllreduceTrial<T>::name(context, bytes, in_graph), context.comm(), rounds, [=] {
    auto trial = std::make_shared<AllreduceTrial<T>>(context, bytes, in_graph);
    Figure figure = trial->figure();
    figure.keeps = std::move(trial);
    return figure;
  });
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    record_nccl_version();
    const selvage::Context shared(comm);
    for (const std::int64_t bytes : sizes()) add_benchmark<float>(shared, bytes);
    if (on_host) return;
    for (const std::int64_t bytes : {16 * kib, 256 * kib, 4 * mib, 64 * mib, 1024 * mib})
      add_benchmark<selvage::Bfloat16>(shared, bytes);
  });
}
