#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/job_placement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace selvage::topo {
namespace {

/// What rank 0 found: a placement or an error.
struct Outcome {
  std::array<int, 3> head = {-1, 0,
                             0};  ///< the error's kind or -1; the number of ranks or of characters; slots
  std::vector<int> slots;
  std::string message;
};

Outcome mapped(const MappingProblem& problem) {
  Outcome outcome;
  try {
    const PortfolioResult result = place_by_portfolio(problem);
    outcome.slots = result.result().placement.slots();
    outcome.head = {-1, static_cast<int>(outcome.slots.size()), problem.fabric.slot_count()};
  } catch (const Error& error) {
    outcome.message = error.message();
    outcome.head = {static_cast<int>(error.kind()), static_cast<int>(outcome.message.size()), 0};
  } catch (const std::exception& error) {
    outcome.message = error.what();
    outcome.head = {static_cast<int>(ErrorKind::unsupported), static_cast<int>(outcome.message.size()), 0};
  }
  return outcome;
}

}  // namespace

Placement place_job(MPI_Comm comm, const MappingProblem& problem) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  Outcome outcome;
  if (rank == 0) outcome = mapped(problem);
  check_mpi(MPI_Bcast(outcome.head.data(), static_cast<int>(outcome.head.size()), MPI_INT, 0, comm),
            "MPI_Bcast of a placement's size");
  const auto [kind, size, slots] = outcome.head;
  if (kind >= 0) {
    outcome.message.resize(static_cast<std::size_t>(size));
    check_mpi(MPI_Bcast(outcome.message.data(), size, MPI_CHAR, 0, comm), "MPI_Bcast of an error");
    throw Error(static_cast<ErrorKind>(kind), outcome.message);
  }
  outcome.slots.resize(static_cast<std::size_t>(size));
  check_mpi(MPI_Bcast(outcome.slots.data(), size, MPI_INT, 0, comm), "MPI_Bcast of a placement");
  return Placement(std::move(outcome.slots), slots);
}

MPI_Comm reordered(MPI_Comm comm, const Placement& placement) {
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  const std::vector<int>& slots = placement.slots();
  if (placement.rank_count() != size || placement.slot_count() != size) {
    throw Error(ErrorKind::input,
                fmt::format("a placement of {} on {} for {}", counted(placement.rank_count(), "rank"),
                            counted(placement.slot_count(), "slot"), counted(size, "process", "processes")));
  }
  const int new_rank = static_cast<int>(std::find(slots.begin(), slots.end(), rank) - slots.begin());
  MPI_Comm result = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm, 0, new_rank, &result), "MPI_Comm_split by placement");
  return result;
}

}  // namespace selvage::topo
