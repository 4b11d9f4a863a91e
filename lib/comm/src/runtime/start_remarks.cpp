#include "start_remarks.hpp"

#include "gpu/device.hpp"

#include <selvage/counted.hpp>
#include <selvage/environment.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <charconv>
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

std::string remark_on_queues(const std::optional<std::string>& connections, bool is_shared) {
  constexpr int usual = 8;               // what CUDA gives by itself
  constexpr int usual_where_shared = 2;  // seen on H200s under MPS
  int count = is_shared ? usual_where_shared : usual;
  if (connections) {
    const char* const end = connections->data() + connections->size();
    const auto [read, error] = std::from_chars(connections->data(), end, count);
    if (error != std::errc() || read != end || count < 1) return {};
  }
  if (count >= usual) return {};
  return fmt::format(
      "{}: kernels that wait may keep from the GPU the copies and kernels that they wait for, so set "
      "CUDA_DEVICE_MAX_CONNECTIONS to {} at least",
      connections ? fmt::format("CUDA_DEVICE_MAX_CONNECTIONS={}", count)
                  : fmt::format("MPS gives a process {} queues to its GPU", count),
      usual);
}

std::vector<std::string> start_remarks(const topo::Machine& machine, int rank, int device) {
  static std::atomic_flag have_been_told;
  if (have_been_told.test_and_set()) return {};
  std::vector<std::string> remarks = remarks_on_unknown_variables();
  if (device != no_device)
    remarks.push_back(
        remark_on_queues(environment_text("CUDA_DEVICE_MAX_CONNECTIONS"), is_shared_under_mps(device)));
  using Host = Kokkos::DefaultHostExecutionSpace;
  if (Kokkos::is_initialized() && std::string_view(Host::name()) == "OpenMP") {
    remarks.push_back(
        remark_on_threads(machine, rank, Host().concurrency(), environment_text("OMP_WAIT_POLICY")));
  }
  std::erase(remarks, std::string());
  return remarks;
}

}  // namespace selvage::detail
