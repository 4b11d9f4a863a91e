#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace selvage::test {

/// What a job consists of, by MPI and the environment: what a test expects must not come from the library that it tests.
struct Job {
  std::vector<int> ranks_of_hosts;

  [[nodiscard]] int ranks() const { return std::accumulate(ranks_of_hosts.begin(), ranks_of_hosts.end(), 0); }
  [[nodiscard]] int hosts() const { return static_cast<int>(ranks_of_hosts.size()); }
  [[nodiscard]] bool is_on_one_host() const { return hosts() == 1; }
  /// How many ranks run on the host of this one, itself among them.
  [[nodiscard]] int ranks_on_host_of(int rank) const {
    const auto own = std::ranges::find_if(ranks_of_hosts, [&](int count) { return (rank -= count) < 0; });
    return own == ranks_of_hosts.end() ? 0 : *own;
  }
  /// Whether as many ranks run on each host.
  [[nodiscard]] bool is_even() const {
    return std::ranges::all_of(ranks_of_hosts, [&](int count) { return count == ranks_of_hosts.front(); });
  }
};

namespace job_detail {

/// "2x3" or "3+1".
inline std::vector<int> read_hosts(std::string text) {
  const std::size_t times = text.find('x');
  if (times != std::string::npos)
    return std::vector<int>(std::stoul(text.substr(0, times)), std::stoi(text.substr(times + 1)));
  std::ranges::replace(text, '+', ' ');
  std::istringstream parts(text);
  std::vector<int> hosts;
  for (int ranks = 0; parts >> ranks;) hosts.push_back(ranks);
  return hosts;
}

/// In the order of their first ranks.
inline std::vector<int> physical_hosts() {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int first = rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, host);
  MPI_Comm_free(&host);
  std::vector<int> firsts(static_cast<std::size_t>(size));
  MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> hosts;
  for (int each = 0; each < size; ++each) {
    const auto count = static_cast<int>(std::ranges::count(firsts, each));
    if (count > 0) hosts.push_back(count);
  }
  return hosts;
}

}  // namespace job_detail

/// Collective when first called, which parameters of a suite may be: main() starts MPI before it reads them.
inline const Job& this_job() {
  static const Job job = [] {
    const char* const hosts = std::getenv("SELVAGE_LOGICAL_HOSTS");
    return Job{hosts != nullptr ? job_detail::read_hosts(hosts) : job_detail::physical_hosts()};
  }();
  return job;
}

/// Whether SELVAGE_INITIATION has a proxy carry all halos.
inline bool is_carried_by_proxy() {
  const char* const initiation = std::getenv("SELVAGE_INITIATION");
  return initiation != nullptr && (std::string(initiation) == "queue" || std::string(initiation) == "kernel");
}

/// How many cases of a suite must run, whatever its rules make of the job.
struct LeastCases {
  std::size_t on_one_host;
  std::size_t on_several_hosts;
  std::size_t on_gpus_of_one_host;
  std::size_t on_gpus_of_several_hosts;

  [[nodiscard]] std::size_t here(bool on_gpus) const {
    if (this_job().is_on_one_host()) return on_gpus ? on_gpus_of_one_host : on_one_host;
    return on_gpus ? on_gpus_of_several_hosts : on_several_hosts;
  }
};

/// The cases of which `is_wanted` says so, in their order.
template <class Case, class Predicate>
std::vector<Case> cases_where(const std::vector<Case>& all, const Predicate& is_wanted) {
  std::vector<Case> wanted;
  std::ranges::copy_if(all, std::back_inserter(wanted), is_wanted);
  return wanted;
}
/// The same by a function, of which there may be one for each type of case.
template <class Case>
std::vector<Case> cases_where(const std::vector<Case>& all,
                              bool (*is_wanted)(const std::type_identity_t<Case>&)) {
  return cases_where<Case, bool (*)(const Case&)>(all, is_wanted);
}

}  // namespace selvage::test
