#include "records.hpp"

#include <selvage/error.hpp>

#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

namespace selvage::topo {
namespace {

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

/// The ranks of a communicator that share memory, for the length of a scope.
class SharedMemoryRanks {
 public:
  explicit SharedMemoryRanks(MPI_Comm comm) {
    check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm_),
              "MPI_Comm_split_type");
  }
  ~SharedMemoryRanks() { MPI_Comm_free(&comm_); }
  SharedMemoryRanks(const SharedMemoryRanks&) = delete;
  SharedMemoryRanks& operator=(const SharedMemoryRanks&) = delete;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int size() const {
    int ranks = 0;
    check_mpi(MPI_Comm_size(comm_, &ranks), "MPI_Comm_size");
    return ranks;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Sent as bytes between ranks of one job.
struct Identity {
  int rank = 0;
  std::array<char, 252> kernel{};
};

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

int find_host_leader(MPI_Comm comm, const RankRecord& record) {
  Identity mine;
  check_mpi(MPI_Comm_rank(comm, &mine.rank), "MPI_Comm_rank");
  const std::string kernel = record.boot_id.value_or(record.processor_name);
  kernel.copy(mine.kernel.data(), mine.kernel.size());

  const SharedMemoryRanks shared(comm);
  std::vector<Identity> all(shared.size());
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, shared.comm()),
            "MPI_Allgather among the ranks of a host");
  int leader = mine.rank;
  for (const Identity& other : all) {
    if (other.kernel == mine.kernel) leader = std::min(leader, other.rank);
  }
  return leader;
}

}  // namespace selvage::topo
