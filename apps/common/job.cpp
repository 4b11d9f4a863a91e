#include "common/job.hpp"

#include <selvage/agreement.hpp>
#include <selvage/error.hpp>
#include <selvage/silence.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <system_error>
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

/// Waits for the end of MPI, and ends this process where that doesn't come in time.
void watch_finalize(std::string_view app, int code, int rank, const std::future<void>& end) {
  const std::int64_t limit = limit_ms();
  const std::int64_t silence = silence_ms(limit);
  const auto ends_within = [&](std::chrono::milliseconds time) {
    return end.wait_for(time) == std::future_status::ready;
  };
  if (ends_within(std::chrono::milliseconds(silence))) return;
  if (rank == 0)
    fmt::print(stderr, "selvage: MPI_Finalize: not done after {} ms, given up after {} ms\n", silence, limit);
  if (ends_within(std::chrono::milliseconds(limit - silence) + turn_of(rank))) return;
  // A run that failed has said why.
  if (code == 0)
    fmt::print(stderr, "{}: error: rank {} waited {} ms in MPI_Finalize for ranks that don't end\n", app,
               rank, limit);
  std::fflush(stderr);
  // MPI can't be called by another thread here; the launcher ends the others.
  std::_Exit(code == 0 ? 1 : code);
}

}  // namespace

std::chrono::milliseconds turn_of(int rank) {
  return std::chrono::milliseconds(rank == 0 ? 0 : 5000 + 50 * rank);
}

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
  std::thread watch;
  try {
    watch = std::thread([&, end = promise.get_future()] { watch_finalize(app, code, rank, end); });
  } catch (const std::system_error&) {
    // All else is done: what was written and said stays.
  }
  MPI_Finalize();
  promise.set_value();
  if (watch.joinable()) watch.join();
}

}  // namespace selvage::app
