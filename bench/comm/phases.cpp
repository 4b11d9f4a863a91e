#include "phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

namespace selvage::bench {
namespace {

constexpr int samples = 101;
constexpr std::array<const char*, 5> phases{"launch", "compute", "trigger", "wire", "teardown"};
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
  for (int i = 0; i < samples; ++i) {
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
  [[nodiscard]] Phases phases() const {
    const double under_way = std::max(stamps[1], stamps_put ? stamps[2] : issued);
    const double arrived = stamps_arrival ? stamps[3] : done;
    return {stamps[0] - called, stamps[1] - stamps[0], under_way - stamps[1], arrived - under_way,
            done - arrived};
  }
};

/// The slowest rank's median, per phase.
Phases medians(MPI_Comm comm, std::vector<Phases> all) {
  Phases result{};
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    std::ranges::nth_element(all, all.begin() + samples / 2, {},
                             [&](const Phases& one) { return one[phase]; });
    result[phase] = all[samples / 2][phase];
  }
  MPI_Allreduce(MPI_IN_PLACE, result.data(), static_cast<int>(result.size()), MPI_DOUBLE, MPI_MAX, comm);
  return result;
}

template <class Run>
Phases measure(EdgeRows& rows, const Run& run) {
  const EdgeRows::Stamps stamps("bench::stamps");
  const double offset = clock_offset_us(rows, stamps);
  std::vector<Phases> all;
  for (int sample = 0; sample < samples; ++sample) {
    MPI_Barrier(rows.grid.comm());
    Step step{};
    step.called = now_us();
    run(step, stamps);
    step.done = now_us();
    const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), stamps);
    for (int i = 0; i < 4; ++i) step.stamps[i] = static_cast<double>(image(i)) * 1e-3 + offset;
    all.push_back(step.phases());
  }
  return medians(rows.grid.comm(), std::move(all));
}

Phases measure_port(EdgeRows& rows) {
  HaloExchange halo = rows.alternating();
  const HaloPort port = halo.device(rows.space, rows.u, rows.v);
  return measure(rows, [&](Step& step, const EdgeRows::Stamps& stamps) {
    rows.launch_steps(port, EdgeRows::Send::put, 1, stamps);
    rows.space.fence("bench::step");
    step.stamps_put = step.stamps_arrival = true;
  });
}

Phases measure_exchange(EdgeRows& rows, HaloExchange& halo, bool enqueues) {
  return measure(rows, [&](Step& step, const EdgeRows::Stamps& stamps) {
    const auto& row = rows.next_row();
    rows.write_edges(row, stamps);
    auto pending = halo.start(rows.space, row);
    step.issued = now_us();
    halo.finish(rows.space, std::move(pending));
    step.stamps_arrival = enqueues;
    if (!enqueues) return;
    rows.stamp_arrival(stamps);
    rows.space.fence("bench::step");
  });
}

void append(std::vector<Record>& records, const std::string& how, const Phases& times, std::int64_t bytes) {
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    Record record;
    record.name = fmt::format("halo/put-flag/{}/{}/{}", phases[phase], how, bytes);
    record.value = times[phase];
    record.unit = "us";
    record.choice = how;
    record.verified = true;
    record.repetitions = samples;
    records.push_back(record);
  }
}

}  // namespace

std::vector<Record> phase_records(EdgeRows& rows, std::int64_t bytes) {
  std::vector<Record> records;
  append(records, "port", measure_port(rows), bytes);
  for (const Initiation initiation :
       {Initiation::kernel, Initiation::queue, Initiation::stream, Initiation::host}) {
    if (const auto halo = rows.exchange_over(Transport::peer, initiation)) {
      append(records, std::string(to_string(initiation)),
             measure_exchange(rows, *halo, initiation != Initiation::host), bytes);
    }
  }
  if (const auto halo = rows.exchange_over(Transport::mpi_staged, Initiation::host))
    append(records, "mpi_staged", measure_exchange(rows, *halo, false), bytes);
  return records;
}

}  // namespace selvage::bench
