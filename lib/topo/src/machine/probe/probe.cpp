#include "gpu_probe.hpp"
#include "text/bytes.hpp"
#include "tournament.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace selvage::topo {

void fields(auto& bytes, IsA<ProbedGpu> auto& gpu) {
  bytes(gpu.host, gpu.uuid, gpu.pci_bus_id);
}

void fields(auto& bytes, IsA<ProbedGpuPair> auto& pair) {
  bytes(pair.from, pair.to, pair.put_us, pair.store_gb_per_s, pair.copy_gb_per_s,
        pair.copy_gb_per_s_together);
}

void fields(auto& bytes, IsA<GpuProbes> auto& probes) {
  bytes(probes.bandwidth_bytes, probes.gpus, probes.pairs);
}

namespace {

constexpr int tag = 1;

/// One rank's side of the measurements.
class Prober {
 public:
  Prober(MPI_Comm comm, const ProbeOptions& options)
      : comm_(comm),
        options_(options),
        largest_(std::ranges::max(options.bandwidth_bytes)),
        buffer_(std::max(std::ranges::max(options.latency_bytes), largest_)),
        arrived_(largest_) {
    check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
  }

  /// All pairs, one after the other; this rank fills in those that it sends.
  void measure_alone(std::vector<ProbedPair>& pairs) {
    for (ProbedPair& pair : pairs) {
      check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
      for (std::size_t i = 0; i < options_.latency_bytes.size(); ++i) {
        const std::size_t bytes = options_.latency_bytes[i];
        if (rank_ == pair.from)
          pair.latency_us[i] = median([&] { return round_trip(pair.to, bytes); }) / 2 * 1e6;
        if (rank_ == pair.to) repeat([&] { answer(pair.from, bytes); });
      }
      for (std::size_t i = 0; i < options_.bandwidth_bytes.size(); ++i) {
        const std::size_t bytes = options_.bandwidth_bytes[i];
        if (rank_ == pair.from) pair.gb_per_s[i] = rate(bytes, median([&] { return send(pair.to, bytes); }));
        if (rank_ == pair.to) repeat([&] { receive(pair.from, bytes); });
      }
    }
  }

  /// In each round every rank has one partner, and both send at the same time.
  void measure_together(std::vector<ProbedPair>& pairs) {
    for (int round = 0; round < tournament_rounds(size_); ++round) {
      const int partner = tournament_partner(rank_, round, size_);
      check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
      if (partner == rank_) continue;
      const double rate_of_round = rate(largest_, median([&] { return exchange(partner); }));
      for (ProbedPair& pair : pairs) {
        if (pair.from == rank_ && pair.to == partner) pair.gb_per_s_together = rate_of_round;
      }
    }
  }

 private:
  [[nodiscard]] static double rate(std::size_t bytes, double seconds) {
    return static_cast<double>(bytes) / seconds * 1e-9;
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
  double round_trip(int to, std::size_t bytes) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < trips; ++i) {
      put(to, bytes);
      get(to, bytes);
    }
    return (MPI_Wtime() - begin) / trips;
  }
  void answer(int from, std::size_t bytes) {
    for (int i = 0; i < trips; ++i) {
      get(from, bytes);
      put(from, bytes);
    }
  }
  double send(int to, std::size_t bytes) {
    const double begin = MPI_Wtime();
    put(to, bytes);
    get(to, 0);
    return MPI_Wtime() - begin;
  }
  void receive(int from, std::size_t bytes) {
    get(from, bytes);
    put(from, 0);
  }
  double exchange(int partner) {
    const auto count = static_cast<int>(largest_);
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
  const ProbeOptions& options_;
  std::size_t largest_;
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
  std::vector<double*> figures;
  for (ProbedPair& pair : pairs) {
    for (double& figure : pair.latency_us) figures.push_back(&figure);
    for (double& figure : pair.gb_per_s) figures.push_back(&figure);
    figures.push_back(&pair.gb_per_s_together);
  }
  std::vector<double> values;
  for (const double* figure : figures) values.push_back(*figure);
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm),
      "MPI_Allreduce");
  for (std::size_t i = 0; i < values.size(); ++i) *figures[i] = values[i];
}

/// Every rank's bytes, one after the other.
std::vector<std::vector<std::uint8_t>> gathered(MPI_Comm comm, int size,
                                                const std::vector<std::uint8_t>& mine) {
  std::vector<int> lengths(static_cast<std::size_t>(size));
  const auto length = static_cast<int>(mine.size());
  check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::vector<int> offsets;
  int end = 0;
  for (const int each : lengths) {
    offsets.push_back(end);
    end += each;
  }
  std::vector<std::uint8_t> all(static_cast<std::size_t>(end));
  check_mpi(MPI_Allgatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), offsets.data(),
                           MPI_BYTE, comm),
            "MPI_Allgatherv");
  std::vector<std::vector<std::uint8_t>> messages;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    const auto first = all.begin() + offsets[rank];
    messages.emplace_back(first, first + lengths[rank]);
  }
  return messages;
}

/// The GPUs of some hosts and of another one; the others alone where that one's are unknown.
Figure<GpuProbes> joined(const GpuProbes& some, const Figure<GpuProbes>& another) {
  GpuProbes all = some;
  if (another.is_known()) {
    const auto first = static_cast<int>(all.gpus.size());
    all.gpus.insert(all.gpus.end(), another.value().gpus.begin(), another.value().gpus.end());
    for (ProbedGpuPair pair : another.value().pairs) {
      pair.from += first;
      pair.to += first;
      all.pairs.push_back(std::move(pair));
    }
  }
  return Figure<GpuProbes>::known(std::move(all), Source::probe);
}

/// The lowest rank of each host measures, and all get all.
Figure<GpuProbes> probe_gpus_of_hosts(MPI_Comm comm, const Probes& probes, const ProbeOptions& options) {
  if (!options.with_gpus) return Figure<GpuProbes>::unknown("not asked for");
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::string& host = probes.hosts[static_cast<std::size_t>(rank)];
  ByteWriter bytes;
  if (std::ranges::find(probes.hosts, host) - probes.hosts.begin() == rank) bytes(probe_gpus(host, options));
  Figure<GpuProbes> all = Figure<GpuProbes>::unknown("no host");
  for (const std::vector<std::uint8_t>& message :
       gathered(comm, probes.rank_count(), std::move(bytes).take())) {
    if (message.empty()) continue;
    Figure<GpuProbes> some;
    ByteReader(message.data(), message.data() + message.size())(some);
    all = all.is_known() ? joined(all.value(), some) : some;
  }
  return all;
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
  if (options.latency_bytes.empty() || options.bandwidth_bytes.empty())
    throw Error(ErrorKind::usage, "a probe without sizes");
  Probes probes{.hosts = host_names(comm, size),
                .latency_bytes = options.latency_bytes,
                .bandwidth_bytes = options.bandwidth_bytes,
                .pairs = {},
                .gpus = {}};
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      if (from == to) continue;
      probes.pairs.push_back({.from = from,
                              .to = to,
                              .latency_us = std::vector<double>(options.latency_bytes.size()),
                              .gb_per_s = std::vector<double>(options.bandwidth_bytes.size())});
    }
  }
  Prober prober(comm, options);
  prober.measure_alone(probes.pairs);
  prober.measure_together(probes.pairs);
  share(comm, probes.pairs);
  probes.gpus = probe_gpus_of_hosts(comm, probes, options);
  return probes;
}

}  // namespace selvage::topo
