#include "nccl.hpp"

#include "../support/machine_facts.hpp"
#include "nccl_version.hpp"

#include <selvage/error.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace selvage::bench {

void check_nccl(ncclResult_t code, std::string_view call) {
  if (code == ncclSuccess) return;
  throw Error(ErrorKind::cuda, fmt::format("{} failed: {}", call, ncclGetErrorString(code)),
              static_cast<int>(code));
}

void record_nccl_version() {
  int version = 0;
  check_nccl(ncclGetVersion(&version), "ncclGetVersion");
  benchmark::AddCustomContext("NCCL",
                              fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100));
}

ncclComm_t nccl_communicator(const Context& context) {
  static const ncclComm_t made = [&] {
    ncclComm_t communicator = nullptr;
    if (gpu_count(context.machine()) < context.size()) return communicator;
    ncclUniqueId id;
    if (context.rank() == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, context.comm());
    check_nccl(ncclCommInitRank(&communicator, context.size(), id, context.rank()), "ncclCommInitRank");
    return communicator;
  }();
  return made;
}

}  // namespace selvage::bench
