#include "finish.hpp"
#include "job_output.hpp"
#include "part_file.hpp"
#include "wrap.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <string_view>

namespace selvage::profile {
namespace {

struct Job {
  MPI_Comm comm = MPI_COMM_NULL;  // for the recorder's own messages
  std::string output;
  std::string parts_of;  // see parts_beside()
  std::string own_part;
  std::string no_part;  // why own_part isn't a file, though the user has named a folder for it
};

Job& job() {
  // Never destroyed: MPI_Abort may be called by another library's destructor.
  static auto* const one = new Job;
  return *one;
}

/// "Open MPI v4.1.4" of a text that goes on with where and how it was built.
std::string library_name() {
  constexpr std::size_t longest = 8192;  // of all libraries: the program's may be another one
  char text[longest] = {};
  int length = 0;
  PMPI_Get_library_version(text, &length);
  std::string name(text, static_cast<std::size_t>(length));
  name.resize(std::min(name.find_first_of(",\n"), name.size()));
  // MPICH's has the form "MPICH Version:      4.0.2".
  std::replace(name.begin(), name.end(), '\t', ' ');
  const auto twice = [](char a, char b) { return a == ' ' && b == ' '; };
  name.erase(std::unique(name.begin(), name.end(), twice), name.end());
  return name;
}

constexpr std::string_view open_mpi = "Open MPI";
#if defined(OPEN_MPI)
constexpr bool for_open_mpi = true;
#else
constexpr bool for_open_mpi = false;  // MPICH and its kin, which share its handles
#endif

/// Whether the program runs with the MPI that this recorder was built for. If not, handles are of another kind:
/// nothing may be asked with them, and the program's calls are passed on untouched.
bool is_own_mpi() {
  const std::string name = library_name();
  if (name.starts_with(open_mpi) == for_open_mpi) return true;
  const char* rank = std::getenv(for_open_mpi ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK");
  if (rank == nullptr || std::string_view(rank) == "0") {
    std::fprintf(stderr,
                 "libselvage_profile: no profile is recorded: this recorder is for %s, the program uses %s\n",
                 for_open_mpi ? "Open MPI" : "MPICH", name.c_str());
  }
  return false;
}

/// In own_part, or in memory where that is not wanted or can't be.
Part create_own_part(int ranks) {
  if (job().own_part.empty()) return create_part(ranks);
  if (const auto file = create_part_file(job().own_part, ranks)) return *file;
  const int error = errno;
  // Where no folder is named, parts lie beside the output: one complaint about that place, at the end, is enough.
  const char* const folder = std::getenv("SELVAGE_PROFILE_PARTS");
  if (folder != nullptr && *folder != '\0') job().no_part = job().own_part + ": " + std::strerror(error);
  return create_part(ranks);
}

Part prepare_part(int rank) {
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Part part = create_own_part(ranks);
  PartHeader& header = part.header();
  header.rank = rank;
  library_name().copy(header.mpi_library.data(), header.mpi_library.size() - 1);
  header.seconds_per_tick = measure_seconds_per_tick();
  header.start_ticks = ticks();
  header.last_ticks.store(header.start_ticks, std::memory_order_relaxed);
  header.magic = PartHeader::expected_magic;
  return part;
}

/// Whatever goes wrong in the recorder, the program goes on.
/// \return whether nothing did
template <class Step>
bool guarded(Step step) {
  try {
    step();
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "libselvage_profile: no profile is recorded: %s\n", error.what());
    return false;
  }
}

Part prepare(int rank) {
  job().output = agree_on_output(job().comm);
  job().parts_of = parts_beside(job().output);
  if (!job().parts_of.empty()) job().own_part = part_path(job().parts_of, rank);
  start_peers();
  return prepare_part(rank);
}

void start_recording() {
  if (!is_own_mpi()) return;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  PMPI_Comm_dup(MPI_COMM_WORLD, &job().comm);
  // What goes wrong between the recorders must not end the program.
  PMPI_Comm_set_errhandler(job().comm, MPI_ERRORS_RETURN);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Part part;
  // All ranks record, or none: they gather at the end. The first rank that lacks a file for its part says so.
  struct {
    int ready = 0;
    int lacks_part = std::numeric_limits<int>::max();
  } least;
  least.ready = guarded([&] { part = prepare(rank); }) ? 1 : 0;
  if (!job().no_part.empty()) least.lacks_part = rank;
  PMPI_Allreduce(MPI_IN_PLACE, &least, 2, MPI_INT, MPI_MIN, job().comm);
  if (least.ready != 1) return;
  if (least.lacks_part == rank) {
    std::fprintf(stderr, "libselvage_profile: no part is kept for the case that the run is killed: %s\n",
                 job().no_part.c_str());
  }
  recorder.start(part, level == MPI_THREAD_MULTIPLE);
}

void finish_recording() {
  recorder.stop();
  const Part& part = recorder.part();
  part.header().last_ticks.store(ticks(), std::memory_order_relaxed);
  write_profile(job().output, part, job().comm);
  if (!job().own_part.empty()) unlink(job().own_part.c_str());
  PMPI_Comm_free(&job().comm);
}

}  // namespace
}  // namespace selvage::profile

#define SELVAGE_ALIAS(name) \
  extern "C" __attribute__((visibility("default"), alias("MPI_" #name))) decltype(MPI_##name) PMPI_##name

extern "C" __attribute__((visibility("default"))) int MPI_Init(int* argc, char*** argv) {
  using namespace selvage::profile;
  static const auto next = next_function<decltype(&MPI_Init)>("PMPI_Init");
  const Call call;
  const int result = next(argc, argv);
  if (result == MPI_SUCCESS) start_recording();
  return result;
}
SELVAGE_ALIAS(Init);

extern "C" __attribute__((visibility("default"))) int MPI_Init_thread(int* argc, char*** argv, int required,
                                                                      int* provided) {
  using namespace selvage::profile;
  static const auto next = next_function<decltype(&MPI_Init_thread)>("PMPI_Init_thread");
  const Call call;
  const int result = next(argc, argv, required, provided);
  if (result == MPI_SUCCESS) start_recording();
  return result;
}
SELVAGE_ALIAS(Init_thread);

extern "C" __attribute__((visibility("default"))) int MPI_Finalize() {
  using namespace selvage::profile;
  static const auto next = next_function<decltype(&MPI_Finalize)>("PMPI_Finalize");
  if (recorder.active()) guarded(finish_recording);
  return next();
}
SELVAGE_ALIAS(Finalize);

extern "C" __attribute__((visibility("default"))) int MPI_Abort(MPI_Comm comm, int code) {
  using namespace selvage::profile;
  static const auto next = next_function<decltype(&MPI_Abort)>("PMPI_Abort");
  if (recorder.active()) guarded([] { write_unfinished_profile(job().parts_of, job().output); });
  return next(comm, code);
}
SELVAGE_ALIAS(Abort);
