// One-way latency of a boundary that a kernel has just written, for every way to start the transfer, and where
// the time goes. Ranks in a row; each writes its edge rows and sends them to both sides at once, and the step
// ends when the neighbours' rows are there: so a step is one latency. <r> counts ranks or GPUs.
//
// latency/<bytes>/<r>rank: us per step, without options (a kernel, then exchange()), from inside kernels (port) and by name
//
// latency/one-way/<bytes>/<r>gpu: half of a round trip between two ranks, all pairs at once, from inside kernels: a put and its
// flag, seen by the other
//
// latency/phases/<bytes>/<r>rank: launch, compute, trigger, neighbour, wire, teardown of a single step, each way

#include "../support/figure.hpp"
#include "../support/machine_facts.hpp"
#include "../support/mpi_main.hpp"
#include "../support/on_host.hpp"
#include "edge_steps.hpp"
#include "phases.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int rounds = 31;
constexpr int steps_per_launch = 500;

/// The exchanges that this build can do, and the port, on one pair of rows of `bytes` bytes.
class LatencyTrial {
 public:
  LatencyTrial(const Context& context, std::int64_t bytes) : rows_(context, bytes) {}
  LatencyTrial(const LatencyTrial&) = delete;
  LatencyTrial& operator=(const LatencyTrial&) = delete;

  [[nodiscard]] std::vector<Contender> steps() {
    contenders_.clear();
    add_exchange("selvage", rows_.exchange_by_default());
    add_port("port/put", EdgeRows::Send::put);
    add_port("port/store", EdgeRows::Send::store);
    for (const Transport transport : {Transport::peer, Transport::mpi_direct, Transport::mpi_staged}) {
      for (const Initiation initiation :
           {Initiation::kernel, Initiation::queue, Initiation::stream, Initiation::host})
        add_exchange(fmt::format("{}/{}", to_string(transport), to_string(initiation)),
                     rows_.exchange_over(transport, initiation));
    }
    return contenders_;
  }
  /// Of a trial of two ranks.
  [[nodiscard]] std::vector<Contender> round_trips() {
    contenders_.clear();
    add_round_trips("put", EdgeRows::Send::put);
    add_round_trips("store", EdgeRows::Send::store);
    return contenders_;
  }

 private:
  void add(const std::string& name, const std::function<void()>& run, int units = 1) {
    contenders_.push_back({name, run, [this, name, run] { rows_.verify(name, run); }, units});
  }

  void add_round_trips(const std::string& name, EdgeRows::Send send) {
    auto halo = std::make_shared<HaloExchange>(rows_.alternating());
    const HaloPort port = halo->device(rows_.space, rows_.u, rows_.v);
    add(
        name, [this, halo, port, send] { rows_.launch_round_trips(port, send, steps_per_launch); },
        2 * steps_per_launch);
  }

  void add_port(const std::string& name, EdgeRows::Send send) {
    auto halo = std::make_shared<HaloExchange>(rows_.alternating());
    const HaloPort port = halo->device(rows_.space, rows_.u, rows_.v);
    add(
        name, [this, halo, port, send] { rows_.launch_steps(port, send, steps_per_launch); },
        steps_per_launch);
  }

  void add_exchange(const std::string& name, std::shared_ptr<HaloExchange> halo) {
    if (!halo) return;
    add(name, [this, halo = std::move(halo)] {
      const auto& row = rows_.next_row();
      rows_.write_edges(row);
      halo->exchange(rows_.space, row);
    });
  }

  EdgeRows rows_;
  std::vector<Contender> contenders_;
};

/// Ranks 0 and 1, 2 and 3, ...
Context pair_context(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(comm, rank / 2, rank, &pair);
  const Context context(pair);
  MPI_Comm_free(&pair);
  return context;
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm) {
    const selvage::Context context(comm);
    const selvage::Context pair = pair_context(comm);
    const std::string ranks = ranks_text(context.machine());
    for (const int bytes : {64, 1024, 8192, 65536}) {
      register_figure(fmt::format("latency/{}/{}", bytes, ranks), comm, rounds, [=] {
        const auto trial = std::make_shared<LatencyTrial>(context, bytes);
        return Figure{.contenders = trial->steps(), .keeps = trial};
      });
      if (!on_host) {
        register_figure(fmt::format("latency/one-way/{}/{}", bytes, ranks), comm, rounds, [=] {
          const auto trial = std::make_shared<LatencyTrial>(pair, bytes);
          return Figure{.contenders = trial->round_trips(), .keeps = trial};
        });
      }
      register_phases(fmt::format("latency/phases/{}/{}", bytes, ranks), context, bytes);
    }
  });
}
