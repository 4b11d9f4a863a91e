#include "common/job.hpp"

#include <selvage/agreement.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

namespace selvage::app {
namespace {

constexpr std::int64_t patience_ms = 30'000;

/// A bad limit is refused where errors can be agreed on, which needs what is bounded here.
std::int64_t limit_ms() {
  try {
    return agreement_timeout_ms();
  } catch (const Error&) {
    return patience_ms;
  }
}

/// Ranks say the same thing at different times, the lowest first: it ends the others before they do.
std::chrono::milliseconds turn_of(int rank) {
  return std::chrono::milliseconds(rank == 0 ? 0 : 5000 + 50 * rank);
}

}  // namespace

std::shared_ptr<Job> start_job() {
  // Shared with what is left behind where it is given up.
  auto job = std::make_shared<Job>();
  const auto start = [job] {
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &job->comm), "MPI_Comm_dup of MPI_COMM_WORLD");
    // For what several requests report MPICH takes those of the last two, whatever that of the requests is.
    for (const MPI_Comm comm : {job->comm, MPI_COMM_WORLD, MPI_COMM_SELF})
      check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    job->claim = std::make_unique<ErrorClaim>(job->comm);
  };
  together_bounded(MPI_COMM_WORLD, "the start of the job", start, limit_ms());
  return job;
}

void end_job(const std::shared_ptr<Job>& job) {
  const auto end = [job] {
    job->claim.reset();
    check_mpi(MPI_Comm_free(&job->comm), "MPI_Comm_free");
  };
  together_bounded(MPI_COMM_WORLD, "the end of the job", end, limit_ms());
}

void end_without_job(int rank, int code, const std::function<void()>& say) {
  std::this_thread::sleep_for(turn_of(rank));
  say();
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

void finalize_in_time(std::string_view app, int code) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::promise<void> promise;
  std::thread watch([&, end = promise.get_future()] {
    const std::int64_t limit = limit_ms();
    if (end.wait_for(std::chrono::milliseconds(limit) + turn_of(rank)) == std::future_status::ready) return;
    // A run that failed has said why.
    if (code == 0)
      fmt::print(stderr, "{}: error: rank {} waited {} ms in MPI_Finalize for ranks that don't end\n", app,
                 rank, limit);
    std::fflush(stderr);
    // MPI can't be called by another thread here; the launcher ends the others.
    std::_Exit(code == 0 ? 1 : code);
  });
  MPI_Finalize();
  promise.set_value();
  watch.join();
}

}  // namespace selvage::app
