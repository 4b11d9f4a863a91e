#include "records.hpp"
#include "wait_keeping.hpp"

#include <selvage/error.hpp>

#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace selvage::topo {
namespace {

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

// Sent as bytes between ranks of one job.
using Identity = std::array<char, 512>;

/// Ranks of one kernel may still be in containers that see neither each other's memory nor processes.
std::string visible_memory() {
  struct stat memory {};
  struct stat processes {};
  const bool has_memory = stat("/dev/shm", &memory) == 0;
  const bool has_processes = stat("/proc/self/ns/pid", &processes) == 0;
  return std::to_string(has_memory ? memory.st_dev : 0) + " " +
         std::to_string(has_processes ? processes.st_ino : 0);
}

}  // namespace

Figure<std::vector<int>> scheduler_affinity() {
  constexpr int most_cpus = 1 << 20;
  // The kernel refuses a set that is smaller than its own, whose size it does not tell.
  for (int capacity = CPU_SETSIZE; capacity <= most_cpus; capacity *= 2) {
    const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(capacity));
    const std::size_t bytes = CPU_ALLOC_SIZE(capacity);
    if (!set) break;
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      return Figure<std::vector<int>>::unknown(std::string("sched_getaffinity: ") + std::strerror(errno));
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.push_back(cpu);
    }
    return Figure<std::vector<int>>::known(std::move(cpus), Source::kernel);
  }
  return Figure<std::vector<int>>::unknown("sched_getaffinity: no set was large enough");
}

Figure<std::string> boot_id() {
  const std::string path = "/proc/sys/kernel/random/boot_id";
  std::ifstream file(path);
  std::string id;
  if (file >> id) return Figure<std::string>::known(std::move(id), Source::kernel);
  return Figure<std::string>::unknown("cannot read " + path);
}

int find_host_leader(MPI_Comm comm, const RankRecord& record, const Wait& wait) {
  struct Buffers {
    Identity mine{};
    std::vector<Identity> all;
  };
  int ranks = 0;
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  auto buffers = std::make_unique<Buffers>();
  const std::string text = record.boot_id.value_or("") + " " + record.processor_name + " " + visible_memory();
  text.copy(buffers->mine.data(), buffers->mine.size());
  buffers->all.resize(ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(buffers->mine.data(), sizeof(Identity), MPI_BYTE, buffers->all.data(),
                           sizeof(Identity), MPI_BYTE, comm, &request),
            "MPI_Iallgather of hosts");
  wait_keeping(buffers, request, wait);
  const auto leader = std::ranges::find(buffers->all, buffers->mine);
  return static_cast<int>(leader - buffers->all.begin());
}

}  // namespace selvage::topo
