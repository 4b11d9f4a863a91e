#pragma once

#include "job.hpp"
#include "thrown.hpp"

#include <selvage/comm/allreduce.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace selvage::test {

/// Options that a suite runs with.
struct AllreduceCase {
  std::string name;
  AllreduceOptions options;
  bool is_shared = false;

  friend void PrintTo(const AllreduceCase& tested, std::ostream* out) { *out << tested.name; }
};

namespace allreduce_cases_detail {

inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Kokkos::DefaultExecutionSpace::memory_space>::accessible;
inline constexpr int most_ranks_of_kernels = 8;

/// Kernels combine by levels where groups of equally many GPUs lie on one host each.
inline bool device_levels_work(const AllreduceOptions& options, const Job& job) {
  if (options.inner && options.inner != AllreduceAlgorithm::two_shot) return false;
  const bool maps_all = job.is_on_one_host() && job.ranks() <= most_ranks_of_kernels;
  if (options.outer == AllreduceAlgorithm::two_shot && !maps_all) return false;
  const int group = options.group_size > 0 ? options.group_size : job.ranks_of_hosts.front();
  if (options.group_size == 0 && !job.is_even()) return false;
  const bool fits = std::ranges::all_of(job.ranks_of_hosts, [&](int ranks) { return ranks % group == 0; });
  return fits && job.ranks() > group && group <= most_ranks_of_kernels;
}

inline bool works_on_device(const AllreduceOptions& options, const Job& job) {
  switch (*options.algorithm) {
    using enum AllreduceAlgorithm;
    case shared_buffer_tree:
    case binomial_tree:
      return false;
    case mpi:
    case nccl:
    case recursive_doubling:
    case ring:
    case segmented_ring:
      return true;
    case hierarchical:
    case pipelined:
      return device_levels_work(options, job);
    default:
      return job.is_on_one_host() && job.ranks() <= most_ranks_of_kernels;
  }
}

inline bool works_on_host(const AllreduceOptions& options, const Job& job) {
  switch (*options.algorithm) {
    using enum AllreduceAlgorithm;
    case one_shot:
    case two_shot:
    case shared_buffer_tree:
      return job.is_on_one_host();
    case binomial_tree:
    case mpi:
    case recursive_doubling:
    case ring:
    case segmented_ring:
      return true;
    case hierarchical:
    case pipelined:
      return options.inner != two_shot && options.outer != two_shot && options.outer != nccl;
    default:
      return false;  // for GPUs
  }
}

}  // namespace allreduce_cases_detail

/// Whether a case can run in this job, by how its algorithm reaches other ranks.
inline bool can_run(const AllreduceCase& tested) {
  using namespace allreduce_cases_detail;
  if (!tested.options.algorithm) return true;
  return on_host ? works_on_host(tested.options, this_job()) : works_on_device(tested.options, this_job());
}
/// Only a case of NCCL may be refused then: machines lack the library, and it takes no GPU twice.
inline bool must_run(const AllreduceCase& tested) {
  return can_run(tested) && tested.options.algorithm != AllreduceAlgorithm::nccl &&
         tested.options.outer != AllreduceAlgorithm::nccl;
}
inline std::vector<AllreduceCase> running(const std::vector<AllreduceCase>& all) {
  return cases_where(all, can_run);
}

/// Collective: the error that the library refuses a case with.
inline std::optional<Error> refusal_of(const Context& context, const AllreduceCase& tested) {
  const Kokkos::DefaultExecutionSpace space;
  const Kokkos::View<double*, Kokkos::DefaultExecutionSpace> view("probe", 1);
  return thrown_by([&] { const Allreduce made(space, context, view, tested.options); });
}

/// Collective: as many cases as stated run, and the library refuses all others.
inline void expect_others_refused(const std::vector<AllreduceCase>& all, const LeastCases& least) {
  const Context context(MPI_COMM_WORLD);
  EXPECT_GE(cases_where(all, must_run).size(), least.here(!allreduce_cases_detail::on_host));
  for (const AllreduceCase& tested : all) {
    if (can_run(tested)) continue;
    const auto error = refusal_of(context, tested);
    EXPECT_EQ(error ? to_string(error->kind()) : "nothing was thrown", to_string(ErrorKind::unsupported))
        << tested.name;
  }
}

}  // namespace selvage::test
