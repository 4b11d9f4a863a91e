#include "common/address_space.hpp"

#include <selvage/environment.hpp>
#include <selvage/whole_number.hpp>

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>

namespace selvage::app {
namespace {

/// Open MPI 4.1 takes a mapping that failed for one that it has: with up to 265 MB two and four ranks crashed in MPI_Init, or when
/// a first message came. Unlimited, a rank takes 320 to 390 MB, much of it address space that the C library sets aside.
constexpr std::uint64_t least_bytes = std::uint64_t{288} << 20;

/// What launchers tell before MPI does; 0 where none does.
int rank_of_launcher() {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "FLUX_TASK_RANK", "SLURM_PROCID"}) {
    const auto text = environment_text(name);
    if (!text) continue;
    if (const auto rank = whole_number(*text)) return static_cast<int>(*rank);
  }
  return 0;
}

}  // namespace

std::optional<StartRefusal> address_space_refusal() {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= least_bytes)
    return std::nullopt;
  const int rank = rank_of_launcher();
  return StartRefusal{
      rank,
      fmt::format("rank {} has a limit of {} KiB of address space (ulimit -v), and MPI takes at least {} KiB",
                  rank, limit.rlim_cur >> 10, least_bytes >> 10)};
}

}  // namespace selvage::app
