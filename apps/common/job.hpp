#pragma once

#include "common/error_claim.hpp"

#include <mpi.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

namespace selvage::app {

/// How long a rank waits before it says what others say too: the lowest says it at once, and ends the others before they do.
[[nodiscard]] std::chrono::milliseconds turn_of(int rank);

/// What all ranks of a mini-app have from its start to its end.
struct Job {
  MPI_Comm comm =
      MPI_COMM_NULL;  ///< a duplicate of MPI_COMM_WORLD whose errors come back instead of ending the job
  std::unique_ptr<ErrorClaim> claim;
};

/// Collective over MPI_COMM_WORLD. MPI makes these things without a bound; here ranks that are late are named.
/// \throws AgreedError, IncompleteError
[[nodiscard]] std::shared_ptr<Job> start_job();

/// Frees them, as start_job() makes them.
void end_job(const std::shared_ptr<Job>& job);

/// Says an error by which a rank ends outside of a Job, and ends all ranks: rank 0 does, or if it can't the lowest that
/// can.
[[noreturn]] void end_without_job(int rank, int code, const std::function<void()>& say);

/// MPI_Finalize, which waits for all ranks: rank 0 says what it waits for, and whoever waits longer than for others of this job
/// says so and ends it. Without a bound where no thread can be started.
/// \param code  the run's exit code, which stays unless it is 0
void finalize_in_time(std::string_view app, int code);

}  // namespace selvage::app
