// One-way latency of a boundary that a kernel has just written, for every way to start the transfer, and where
// the time goes. Ranks in a row; each writes its edge rows and sends them to both sides at once, and the step
// ends when the neighbours' rows are there: so a step is one latency.
//
// halo/put-flag/<initiation>/<bytes>: us per step over memory that peers map
//
// halo/put-flag/one-way/<bytes>: half of a round trip between two ranks, all pairs at once, from inside kernels: a put
// and its flag, seen by the other
//
// halo/put-flag/<phase>/<initiation>/<bytes>: launch, compute, trigger, wire, teardown of a single step, us

#include "../support/figure.hpp"
#include "../support/mpi_main.hpp"
#include "../support/trial.hpp"
#include "edge_steps.hpp"
#include "phases.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace selvage::bench {
namespace {

constexpr int rounds = 31;
constexpr int steps_per_launch = 500;
constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, EdgeRows::Space::memory_space>::accessible;

/// The exchanges that this build can do, and the port, on one pair of rows of `bytes` bytes.
class LatencyTrial {
 public:
  /// \param pair  of this rank and the one it has to itself
  LatencyTrial(const Context& context, const Context& pair, std::int64_t bytes)
      : rows_(context, bytes), pair_rows_(pair, bytes) {
    if (!on_host) add_round_trips();
    add_port();
    for (const Transport transport : {Transport::peer, Transport::mpi_direct, Transport::mpi_staged}) {
      for (const Initiation initiation :
           {Initiation::kernel, Initiation::queue, Initiation::stream, Initiation::host})
        add_exchange(transport, initiation);
    }
    for (const Contender& contender : contenders_) {
      EdgeRows& rows = contender.name.starts_with("one-way") ? pair_rows_ : rows_;
      rows.verify(contender.name, [&] { contender.run(); });
    }
    trial_ = std::make_unique<Trial>(rows_.grid.comm(), contenders_, rounds);
  }

  [[nodiscard]] const Trial& trial() const { return *trial_; }
  [[nodiscard]] std::vector<Record> records(std::int64_t bytes) {
    std::vector<Record> records;
    for (const auto& [initiation, name] : over_peer_) {
      Record record;
      record.name = fmt::format("halo/put-flag/{}/{}", to_string(initiation), bytes);
      record.unit = "us";
      record.value = trial_->median(name) * 1e6;
      record.choice = name;
      record.verified = true;
      record.repetitions = rounds;
      record.spread = trial_->spread(name);
      for (const Contender& other : contenders_)
        if (other.name != name) record.peers[other.name] = trial_->median(other.name) * 1e6;
      records.push_back(record);
    }
    if (!on_host) records.push_back(one_way_record(bytes));
    for (Record& phase : phase_records(rows_, bytes)) records.push_back(std::move(phase));
    return records;
  }

 private:
  [[nodiscard]] Record one_way_record(std::int64_t bytes) const {
    Record record;
    record.name = fmt::format("halo/put-flag/one-way/{}", bytes);
    record.unit = "us";
    record.choice =
        trial_->median("one-way/put") < trial_->median("one-way/store") ? "one-way/put" : "one-way/store";
    record.value = trial_->median(record.choice) * 1e6;
    record.verified = true;
    record.repetitions = rounds;
    record.spread = trial_->spread(record.choice);
    for (const char* name : {"one-way/put", "one-way/store"}) record.peers[name] = trial_->median(name) * 1e6;
    return record;
  }

  void add_round_trips() {
    auto halo = std::make_shared<HaloExchange>(pair_rows_.alternating());
    const HaloPort port = halo->device(pair_rows_.space, pair_rows_.u, pair_rows_.v);
    for (const auto& [name, send] :
         {std::pair{"one-way/put", EdgeRows::Send::put}, std::pair{"one-way/store", EdgeRows::Send::store}}) {
      contenders_.push_back(
          {name,
           [this, halo, port, send = send] { pair_rows_.launch_round_trips(port, send, steps_per_launch); },
           2 * steps_per_launch});
    }
  }

  void add_port() {
    auto halo = std::make_shared<HaloExchange>(rows_.alternating());
    const HaloPort port = halo->device(rows_.space, rows_.u, rows_.v);
    for (const auto& [name, send] :
         {std::pair{"port/put", EdgeRows::Send::put}, std::pair{"port/store", EdgeRows::Send::store}}) {
      contenders_.push_back(
          {name, [this, halo, port, send = send] { rows_.launch_steps(port, send, steps_per_launch); },
           steps_per_launch});
    }
    over_peer_.emplace_back(Initiation::kernel, "port/put");
  }

  void add_exchange(Transport transport, Initiation initiation) {
    auto halo = rows_.exchange_over(transport, initiation);
    if (!halo) return;
    const std::string name = fmt::format("{}/{}", to_string(transport), to_string(initiation));
    contenders_.push_back({name, [this, halo] {
                             const auto& row = rows_.next_row();
                             rows_.write_edges(row);
                             halo->exchange(rows_.space, row);
                           }});
    if (transport == Transport::peer && initiation != Initiation::kernel)
      over_peer_.emplace_back(initiation, name);
  }

  EdgeRows rows_;
  EdgeRows pair_rows_;
  std::vector<Contender> contenders_;
  std::vector<std::pair<Initiation, std::string>> over_peer_;
  std::unique_ptr<Trial> trial_;
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

Figure figure_of(const Context& context, const Context& pair, std::int64_t bytes) {
  LatencyTrial latency(context, pair, bytes);
  Figure figure{.seconds = latency.trial().median("port/put"), .records = latency.records(bytes)};
  for (const Record& record : figure.records) {
    figure.counters[record.name] = record.value;
    if (record.choice == "port/put") figure.counters.insert(record.peers.begin(), record.peers.end());
  }
  return figure;
}

}  // namespace
}  // namespace selvage::bench

int main(int argc, char** argv) {
  using namespace selvage::bench;
  return mpi_bench_main(argc, argv, [&](MPI_Comm comm, std::vector<Record>& records) {
    const selvage::Context shared(comm);
    const selvage::Context pair = pair_context(comm);
    for (const std::int64_t bytes : {64, 1024, 8192, 65536}) {
      register_figure(fmt::format("halo/put-flag/{}", bytes), records,
                      [=] { return figure_of(shared, pair, bytes); });
    }
  });
}
