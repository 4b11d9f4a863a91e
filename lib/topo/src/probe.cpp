#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace selvage::topo {
namespace {

constexpr int tag = 1;

/// One rank's side of the measurements.
class Prober {
 public:
  Prober(MPI_Comm comm, const ProbeOptions& options)
      : comm_(comm), options_(options), buffer_(std::max(options.latency_bytes, options.bandwidth_bytes)) {
    check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
  }

  /// All pairs, one after the other; this rank fills in those that it sends.
  void measure_alone(std::vector<ProbedPair>& pairs) {
    for (ProbedPair& pair : pairs) {
      check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
      if (rank_ == pair.from) {
        pair.latency_us = median([&] { return round_trip(pair.to); }) / 2 * 1e6;
        pair.gb_per_s = rate(median([&] { return send(pair.to); }));
      } else if (rank_ == pair.to) {
        repeat([&] { answer(pair.from); });
        repeat([&] { receive(pair.from); });
      }
    }
  }

  /// In each round every rank has one partner, and both send at the same time: the circle method of tournaments.
  void measure_together(std::vector<ProbedPair>& pairs) {
    const int seats = size_ + size_ % 2;
    for (int round = 0; round + 1 < seats; ++round) {
      const int partner = partner_in(round, seats);
      check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
      if (partner >= size_ || partner == rank_) continue;
      const double rate_of_round = rate(median([&] { return exchange(partner); }));
      for (ProbedPair& pair : pairs) {
        if (pair.from == rank_ && pair.to == partner) pair.gb_per_s_together = rate_of_round;
      }
    }
  }

 private:
  [[nodiscard]] int partner_in(int round, int seats) const {
    const int others = seats - 1;
    if (rank_ == others) return round;
    const int partner = ((2 * round - rank_) % others + others) % others;
    return partner == rank_ ? others : partner;
  }
  [[nodiscard]] double rate(double seconds) const {
    return static_cast<double>(options_.bandwidth_bytes) / seconds * 1e-9;
  }
  /// The first one warms up and doesn't count.
  [[nodiscard]] double median(const std::function<double()>& measure) const {
    std::vector<double> seconds;
    for (int i = 0; i <= options_.repetitions; ++i) seconds.push_back(measure());
    seconds.erase(seconds.begin());
    std::ranges::nth_element(seconds, seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2));
    return seconds[seconds.size() / 2];
  }
  void repeat(const std::function<void()>& act) const {
    for (int i = 0; i <= options_.repetitions; ++i) act();
  }

  static constexpr int trips = 20;
  double round_trip(int to) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < trips; ++i) {
      put(to, options_.latency_bytes);
      get(to, options_.latency_bytes);
    }
    return (MPI_Wtime() - begin) / trips;
  }
  void answer(int from) {
    for (int i = 0; i < trips; ++i) {
      get(from, options_.latency_bytes);
      put(from, options_.latency_bytes);
    }
  }
  double send(int to) {
    const double begin = MPI_Wtime();
    put(to, options_.bandwidth_bytes);
    get(to, 0);
    return MPI_Wtime() - begin;
  }
  void receive(int from) {
    get(from, options_.bandwidth_bytes);
    put(from, 0);
  }
  double exchange(int partner) {
    arrived_.resize(options_.bandwidth_bytes);
    const auto count = static_cast<int>(options_.bandwidth_bytes);
    const double begin = MPI_Wtime();
    check_mpi(MPI_Sendrecv(buffer_.data(), count, MPI_BYTE, partner, tag, arrived_.data(), count, MPI_BYTE,
                           partner, tag, comm_, MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
    return MPI_Wtime() - begin;
  }
  void put(int to, std::size_t bytes) {
    check_mpi(MPI_Send(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, to, tag, comm_), "MPI_Send");
  }
  void get(int from, std::size_t bytes) {
    check_mpi(
        MPI_Recv(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, from, tag, comm_, MPI_STATUS_IGNORE),
        "MPI_Recv");
  }

  MPI_Comm comm_;
  ProbeOptions options_;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> arrived_;
  int rank_ = 0;
  int size_ = 0;
};

std::vector<std::string> host_names(MPI_Comm comm, int size) {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name own{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(own.data(), &length), "MPI_Get_processor_name");
  std::vector<Name> all(static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(own.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME,
                          MPI_CHAR, comm),
            "MPI_Allgather");
  std::vector<std::string> names;
  for (const Name& name : all) names.emplace_back(name.data());
  return names;
}

/// Every figure is known to its sender alone; the others hold zero.
void share(MPI_Comm comm, std::vector<ProbedPair>& pairs) {
  for (double ProbedPair::*figure :
       {&ProbedPair::latency_us, &ProbedPair::gb_per_s, &ProbedPair::gb_per_s_together}) {
    std::vector<double> values;
    for (const ProbedPair& pair : pairs) values.push_back(pair.*figure);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                            comm),
              "MPI_Allreduce");
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].*figure = values[i];
  }
}

}  // namespace

Probes probe(MPI_Comm comm, const ProbeOptions& options) {
  int size = 0;
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  if (size > max_probed_ranks)
    throw Error(ErrorKind::usage,
                fmt::format("{} ranks are too many to measure all pairs of: {} at most, such "
                            "as one per host",
                            size, max_probed_ranks));
  Probes probes{.hosts = host_names(comm, size),
                .latency_bytes = options.latency_bytes,
                .bandwidth_bytes = options.bandwidth_bytes,
                .pairs = {}};
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      if (from != to) probes.pairs.push_back({.from = from, .to = to});
    }
  }
  Prober prober(comm, options);
  prober.measure_alone(probes.pairs);
  prober.measure_together(probes.pairs);
  share(comm, probes.pairs);
  return probes;
}

}  // namespace selvage::topo
