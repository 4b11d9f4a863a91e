#include "common/environment_facts.hpp"

#include "common/build_info.hpp"
#include "common/hdf5_file.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace selvage::app {
namespace {

constexpr std::size_t host_name_bytes = 256;

std::string kokkos_text() {
  const int version = KOKKOS_VERSION;
  return fmt::format("{}.{}.{}, {}, concurrency {}", version / 10000, version / 100 % 100, version % 100,
                     Kokkos::DefaultExecutionSpace::name(), Kokkos::DefaultExecutionSpace().concurrency());
}

std::string mpi_text() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library = {};
  int length = 0;
  check_mpi(MPI_Get_library_version(library.data(), &length), "MPI_Get_library_version");
  const std::string text(library.data(), static_cast<std::size_t>(length));
  return text.substr(0, text.find_first_of(",\n"));
}

std::string thread_text() {
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level == MPI_THREAD_MULTIPLE) return "multiple";
  if (level == MPI_THREAD_SERIALIZED) return "serialized";
  return level == MPI_THREAD_FUNNELED ? "funneled" : "single";
}

/// "a" for one host, "2: a (4 ranks), b (4 ranks)" for more, shortened after eight.
std::string hosts_text(MPI_Comm comm, int ranks) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name = {};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  std::array<char, host_name_bytes> own = {};
  std::memcpy(own.data(), name.data(), std::min(static_cast<std::size_t>(length), own.size() - 1));
  std::vector<char> all(host_name_bytes * static_cast<std::size_t>(ranks));
  check_mpi(MPI_Allgather(own.data(), host_name_bytes, MPI_CHAR, all.data(), host_name_bytes, MPI_CHAR, comm),
            "MPI_Allgather of host names");
  std::map<std::string, int> ranks_on;
  for (int rank = 0; rank < ranks; ++rank)
    ++ranks_on[all.data() + host_name_bytes * static_cast<std::size_t>(rank)];
  if (ranks_on.size() == 1) return own.data();
  std::vector<std::string> texts;
  for (const auto& [host, count] : ranks_on) {
    if (texts.size() == 8) texts.emplace_back("...");
    if (texts.size() > 8) break;
    texts.push_back(fmt::format("{} ({})", host, counted(count, "rank")));
  }
  return fmt::format("{}: {}", ranks_on.size(), fmt::join(texts, ", "));
}

std::string gpus_text() {
  const int devices = Kokkos::num_devices();
  return devices < 0 ? "none used: host backend" : fmt::format("{} visible to rank 0", devices);
}

}  // namespace

Facts environment_facts(MPI_Comm comm) {
  int ranks = 1;
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  Facts facts = {{"commit", build_info::commit},
                 {"compiler", fmt::format("{}, {}", build_info::compiler, build_info::build_type)},
                 {"Kokkos", kokkos_text()},
                 {"MPI", mpi_text()},
                 {"MPI threads", thread_text()},
                 {"HDF5", describe_hdf5()},
                 {"GPUs", gpus_text()},
                 {"ranks", fmt::format("{}", ranks)},
                 {"hosts", hosts_text(comm, ranks)}};
  if (*build_info::cuda != '\0') facts.insert(facts.begin() + 2, {"CUDA", build_info::cuda});
  return facts;
}

}  // namespace selvage::app
