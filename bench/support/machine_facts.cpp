#include "machine_facts.hpp"

#include "gpu_facts.hpp"

#include <selvage/environment.hpp>

#include <Kokkos_Core.hpp>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <selvage_build_facts.hpp>
#include <unistd.h>

#include <array>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace selvage::bench {
namespace {

std::string hardware() {
  if (const auto given = environment_text("SELVAGE_HARDWARE")) return *given;
  std::ifstream cpu_info("/proc/cpuinfo");
  for (std::string line; std::getline(cpu_info, line);) {
    if (!line.starts_with("model name")) continue;
    return fmt::format("{}x{}", sysconf(_SC_NPROCESSORS_ONLN), line.substr(line.find(':') + 2));
  }
  return fmt::format("{}xCPU", sysconf(_SC_NPROCESSORS_ONLN));
}

/// "Open MPI v4.1.4", of a text of several lines or clauses.
std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view version(text.data(), static_cast<std::size_t>(length));
  std::string clause(version.substr(0, version.find_first_of(",\n")));
  for (char& c : clause) c = c == '\t' ? ' ' : c;
  return clause;
}

/// Of the library that MPI has loaded; empty where it uses none.
std::string ucx_version() {
  const std::unique_ptr<void, int (*)(void*)> library(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD),
                                                      dlclose);
  if (!library) return {};
  using Version = const char* (*)();
  const auto version = reinterpret_cast<Version>(dlsym(library.get(), "ucp_get_version_string"));
  return version == nullptr ? "" : version();
}

std::string settings() {
  std::vector<std::string> given;
  for (const char* name :
       {"SELVAGE_LOGICAL_HOSTS", "SELVAGE_ALLREDUCE", "SELVAGE_ALLREDUCE_REORDERING",
        "SELVAGE_ALLREDUCE_TABLE", "SELVAGE_TRANSPORT", "SELVAGE_INITIATION", "SELVAGE_QUEUE_PLACEMENT",
        "SELVAGE_COPY_PATHS", "NCCL_NVLS_ENABLE", "NCCL_ALGO", "NCCL_PROTO", "CUDA_MODULE_LOADING", "UCX_TLS",
        "OMPI_MCA_pml", "OMPI_MCA_btl", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_DEVICE_MAX_CONNECTIONS",
        "OMP_NUM_THREADS"}) {
    if (const auto value = environment_text(name)) given.push_back(fmt::format("{}={}", name, *value));
  }
  return fmt::format("{}", fmt::join(given, " "));
}

}  // namespace

std::map<std::string, std::string> machine_facts(MPI_Comm comm) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  std::map<std::string, std::string> facts{
      {"commit", build_facts::commit},
      {"hardware", hardware()},
      {"ranks", fmt::format("{}", ranks)},
      {"MPI", mpi_version()},
      {"Kokkos", fmt::format("{}.{}.{}, {}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
                             KOKKOS_VERSION % 100, Kokkos::DefaultExecutionSpace::name())},
      {"compiler", __VERSION__},
      {"build", build_facts::type},
      {"order", "contenders shuffled in each round, alike on all ranks"},
      {"settings", settings()}};
  if (const std::string version = ucx_version(); !version.empty()) facts["UCX"] = version;
  facts.merge(gpu_facts());
  return facts;
}

int gpu_count(const topo::Machine& machine) {
  std::set<std::pair<int, std::string>> gpus;
  for (int rank = 0; rank < machine.rank_count(); ++rank) {
    const topo::RankPlace& place = machine.place(rank);
    if (place.gpu_pci_bus_id.is_known()) gpus.emplace(place.physical_host, place.gpu_pci_bus_id.value());
  }
  return static_cast<int>(gpus.size());
}

std::string ranks_text(const topo::Machine& machine) {
  const int ranks = machine.rank_count();
  const int gpus = gpu_count(machine);
  if (gpus == 0) return fmt::format("{}rank", ranks);
  return gpus == ranks ? fmt::format("{}gpu", gpus) : fmt::format("{}rank{}gpu", ranks, gpus);
}

}  // namespace selvage::bench
