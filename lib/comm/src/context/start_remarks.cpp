#include "start_remarks.hpp"

#include <selvage/counted.hpp>
#include <selvage/environment.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>
#include <string_view>

namespace selvage::detail {

std::string remark_on_threads(const topo::Machine& machine, int rank, int threads,
                              const std::optional<std::string>& wait_policy) {
  if (threads < 2 || (wait_policy && strcasecmp(wait_policy->c_str(), "passive") == 0)) return {};
  const auto& ranks = machine.physical_hosts().at(machine.place(rank).physical_host).ranks;
  std::set<int> cpus;
  for (const int each : ranks) {
    const auto& own = machine.place(each).cpus;
    if (!own.is_known()) return {};
    cpus.insert(own.value().begin(), own.value().end());
  }
  const double processors =
      std::min(static_cast<double>(cpus.size()),
               machine.place(rank).cpu_quota.value_or(static_cast<double>(cpus.size())));
  if (static_cast<double>(ranks.size()) * threads <= processors) return {};
  return fmt::format(
      "{} of {} each on {:g} processor{}: OpenMP's threads spin while they wait, so set "
      "OMP_WAIT_POLICY=passive "
      "or a smaller OMP_NUM_THREADS",
      counted(ranks.size(), "rank"), counted(threads, "thread"), processors, processors == 1 ? "" : "s");
}

void print_start_remarks(const topo::Machine& machine, int rank) {
  static std::atomic_flag printed;
  if (printed.test_and_set()) return;
  for (const std::string& remark : remarks_on_unknown_variables())
    fmt::print(stderr, "selvage: {}\n", remark);
  using Host = Kokkos::DefaultHostExecutionSpace;
  if (!Kokkos::is_initialized() || std::string_view(Host::name()) != "OpenMP") return;
  const std::string remark =
      remark_on_threads(machine, rank, Host().concurrency(), environment_text("OMP_WAIT_POLICY"));
  if (!remark.empty()) fmt::print(stderr, "selvage: {}\n", remark);
}

}  // namespace selvage::detail
