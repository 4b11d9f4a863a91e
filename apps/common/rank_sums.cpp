#include "common/rank_sums.hpp"

#include <selvage/agreement.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

namespace selvage::app {
namespace {

using Clock = std::chrono::steady_clock;

bool finished_in_time(MPI_Request& request, std::int64_t timeout_ms) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  int done = 0;
  while (true) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test of a sum over ranks");
    if (done) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
}

/// Waits for a collective that all ranks should have come to by now.
void finish(std::string_view what, MPI_Request& request) {
  const std::int64_t timeout_ms = agreement_timeout_ms();
  if (finished_in_time(request, timeout_ms)) return;
  throw Error(ErrorKind::timeout, fmt::format("{}: waited {} ms for all ranks", what, timeout_ms));
}

template <class T>
struct Buffers {
  std::vector<T> mine;
  std::vector<T> all;
};

/// What a collective brought. MPI may still write to the buffers of one that is given up: those are left behind.
template <class T>
std::vector<T> finished(std::string_view what, MPI_Request& request, std::unique_ptr<Buffers<T>> buffers) {
  try {
    finish(what, request);
  } catch (...) {
    static_cast<void>(buffers.release());
    throw;
  }
  return std::move(buffers->all);
}

}  // namespace

std::vector<double> gather_everywhere(MPI_Comm comm, std::string_view what, std::span<const double> values) {
  int ranks = 0;
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  auto buffers = std::make_unique<Buffers<double>>();
  buffers->mine.assign(values.begin(), values.end());
  buffers->all.resize(values.size() * static_cast<std::size_t>(ranks));
  const int count = static_cast<int>(values.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(buffers->mine.data(), count, MPI_DOUBLE, buffers->all.data(), count, MPI_DOUBLE,
                           comm, &request),
            "MPI_Iallgather");
  return finished(what, request, std::move(buffers));
}

std::vector<std::int64_t> sum_counts(MPI_Comm comm, std::string_view what,
                                     std::span<const std::int64_t> counts) {
  auto buffers = std::make_unique<Buffers<std::int64_t>>();
  buffers->mine.assign(counts.begin(), counts.end());
  buffers->all.resize(counts.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(buffers->mine.data(), buffers->all.data(), static_cast<int>(counts.size()),
                           MPI_INT64_T, MPI_SUM, comm, &request),
            "MPI_Iallreduce");
  return finished(what, request, std::move(buffers));
}

double sum_over_ranks(MPI_Comm comm, std::string_view what, double value) {
  double sum = 0;
  for (const double part : gather_everywhere(comm, what, std::span(&value, 1))) sum += part;
  return sum;
}

double max_over_ranks(MPI_Comm comm, std::string_view what, double value) {
  return std::ranges::max(gather_everywhere(comm, what, std::span(&value, 1)));
}

}  // namespace selvage::app
