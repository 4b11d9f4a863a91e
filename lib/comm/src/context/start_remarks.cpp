#include "start_remarks.hpp"

#include <selvage/counted.hpp>
#include <selvage/environment.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <set>
#include <string_view>
#include <vector>

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

std::string remark_on_queues(const std::optional<std::string>& connections) {
  constexpr int usual = 8;  // what CUDA gives by itself
  int count = 0;
  const std::string text = connections.value_or("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 || count >= usual) return {};
  return fmt::format(
      "CUDA_DEVICE_MAX_CONNECTIONS={}: kernels that wait for the proxy may keep its copies from running, so "
      "leave it unset, "
      "or set {} at least",
      count, usual);
}

void print_start_remarks(const topo::Machine& machine, int rank, bool on_device) {
  static std::atomic_flag printed;
  if (printed.test_and_set()) return;
  std::vector<std::string> remarks = remarks_on_unknown_variables();
  if (on_device) remarks.push_back(remark_on_queues(environment_text("CUDA_DEVICE_MAX_CONNECTIONS")));
  using Host = Kokkos::DefaultHostExecutionSpace;
  if (Kokkos::is_initialized() && std::string_view(Host::name()) == "OpenMP") {
    remarks.push_back(
        remark_on_threads(machine, rank, Host().concurrency(), environment_text("OMP_WAIT_POLICY")));
  }
  for (const std::string& remark : remarks)
    if (!remark.empty()) fmt::print(stderr, "selvage: {}\n", remark);
}

}  // namespace selvage::detail
