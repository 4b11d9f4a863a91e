#include "phases.hpp"

#include "../support/figure.hpp"
#include "edge_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

constexpr int phase_rounds = 101;
/// `neighbour` is how much later the last of the neighbours sent than this rank did, on the clock that a host's ranks share.
constexpr std::array<const char*, 7> phases{"launch", "compute",  "trigger", "neighbour",
                                            "wire",   "teardown", "step"};
using Phases = std::array<double, phases.size()>;  // us

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What to add to a kernel's clock to have the host's, in us: from the tightest of many launches that are
/// bracketed by the host's clock. Off by less than half the bracket, a few us; launch and teardown share it.
double clock_offset_us(EdgeRows& rows, const EdgeRows::Stamps& stamps) {
  double tightest = std::numeric_limits<double>::max();
  double offset = 0;
  for (int i = 0; i < phase_rounds; ++i) {
    const double before = now_us();
    rows.stamp_arrival(stamps);
    rows.space.fence("bench::clock");
    const double after = now_us();
    if (after - before >= tightest) continue;
    tightest = after - before;
    const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), stamps);
    offset = (before + after) / 2 - static_cast<double>(image(3)) * 1e-3;
  }
  return offset;
}

/// What the host and the kernels saw of one step.
struct Step {
  double called, issued, done;      ///< us of the host
  std::array<double, 4> stamps;     ///< us of the host: begun, written, put, arrived
  bool stamps_put, stamps_arrival;  ///< whether the kernels stamped these
  [[nodiscard]] double sent() const { return std::max(stamps[1], stamps_put ? stamps[2] : issued); }
  /// \param last_sent  when the last of this rank and its neighbours sent
  [[nodiscard]] Phases phases(double last_sent) const {
    const double arrived = stamps_arrival ? stamps[3] : done;
    return {stamps[0] - called,  stamps[1] - stamps[0], sent() - stamps[1], last_sent - sent(),
            arrived - last_sent, done - arrived,        done - called};
  }
};

/// One way to make a step, whose stages are seen.
struct Way {
  std::string name;
  std::function<void(Step&, const EdgeRows::Stamps&)> run;
};

/// Ways to exchange one pair of rows, stage by stage.
class PhaseTrial {
 public:
  PhaseTrial(const Context& context, std::int64_t bytes) : rows_(context, bytes) {
    add_exchange("selvage", rows_.exchange_by_default(), true);
    add_port();
    for (const Initiation initiation :
         {Initiation::kernel, Initiation::queue, Initiation::stream, Initiation::host})
      add_exchange(std::string(to_string(initiation)), rows_.exchange_over(Transport::peer, initiation),
                   initiation != Initiation::host);
    add_exchange("mpi_staged", rows_.exchange_over(Transport::mpi_staged, Initiation::host), false);
    offset_ = clock_offset_us(rows_, stamps_);
  }
  PhaseTrial(const PhaseTrial&) = delete;
  PhaseTrial& operator=(const PhaseTrial&) = delete;

  void check() {
    for (const Way& way : ways_) {
      rows_.verify(way.name, [&] {
        Step step{};
        way.run(step, stamps_);
      });
    }
  }

  [[nodiscard]] std::map<std::string, double> round() {
    std::map<std::string, double> values;
    for (const std::size_t i : timing::shuffled(ways_.size(), ++rounds_)) {
      const Way& way = ways_[i];
      const Phases times = measure(way);
      for (std::size_t phase = 0; phase < phases.size(); ++phase)
        values[fmt::format("{}: {}, us", way.name, phases[phase])] = times[phase];
    }
    return values;
  }

 private:
  void add_port() {
    const auto halo = std::make_shared<HaloExchange>(rows_.alternating());
    const HaloPort port = halo->device(rows_.space, rows_.u, rows_.v);
    ways_.push_back({"port", [this, halo, port](Step& step, const EdgeRows::Stamps& stamps) {
                       rows_.launch_steps(port, EdgeRows::Send::put, 1, stamps);
                       rows_.space.fence("bench::step");
                       step.stamps_put = step.stamps_arrival = true;
                     }});
  }

  /// \param enqueues  the caller's instance waits for the neighbours, not the host
  void add_exchange(const std::string& name, std::shared_ptr<HaloExchange> halo, bool enqueues) {
    if (!halo) return;
    ways_.push_back(
        {name, [this, halo = std::move(halo), enqueues](Step& step, const EdgeRows::Stamps& stamps) {
           const auto& row = rows_.next_row();
           rows_.write_edges(row, stamps);
           auto pending = halo->start(rows_.space, row);
           step.issued = now_us();
           halo->finish(rows_.space, std::move(pending));
           step.stamps_arrival = enqueues;
           if (!enqueues) return;
           rows_.stamp_arrival(stamps);
           rows_.space.fence("bench::step");
         }});
  }

  /// Of the slowest rank, each phase by itself.
  [[nodiscard]] Phases measure(const Way& way) {
    MPI_Barrier(rows_.grid.comm());
    Step step{};
    step.called = now_us();
    way.run(step, stamps_);
    step.done = now_us();
    const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), stamps_);
    for (int i = 0; i < 4; ++i) step.stamps[i] = static_cast<double>(image(i)) * 1e-3 + offset_;
    Phases result = step.phases(last_sent(step.sent()));
    MPI_Allreduce(MPI_IN_PLACE, result.data(), static_cast<int>(result.size()), MPI_DOUBLE, MPI_MAX,
                  rows_.grid.comm());
    return result;
  }

  /// When the last of this rank and its neighbours sent. On several hosts only this rank counts, since their clocks differ.
  [[nodiscard]] double last_sent(double own) const {
    double last = own;
    if (rows_.grid.context().machine().physical_hosts().size() > 1) return last;
    for (const int side : {-1, 1}) {
      const auto rank_at = [&](int step) {
        const int neighbour = rows_.grid.neighbour({step, 0});
        return neighbour < 0 ? MPI_PROC_NULL : neighbour;
      };
      double other = own;
      MPI_Sendrecv(&own, 1, MPI_DOUBLE, rank_at(side), 0, &other, 1, MPI_DOUBLE, rank_at(-side), 0,
                   rows_.grid.comm(), MPI_STATUS_IGNORE);
      last = std::max(last, other);
    }
    return last;
  }

  EdgeRows rows_;
  EdgeRows::Stamps stamps_{"bench::stamps"};
  std::vector<Way> ways_;
  unsigned rounds_ = 0;
  double offset_ = 0;
};

}  // namespace

void register_phases(const std::string& name, const Context& context, std::int64_t bytes) {
  register_measurement(name, phase_rounds, [=] {
    const auto trial = std::make_shared<PhaseTrial>(context, bytes);
    return Measurement{.check = [trial] { trial->check(); },
                       .round = [trial] { return trial->round(); },
                       .first = "selvage: step, us"};
  });
}

}  // namespace selvage::bench
