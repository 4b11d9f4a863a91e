#include <selvage/error.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace selvage {
namespace {

int world_rank() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  int rank = -1;
  if (initialized && !finalized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::string describe(ErrorKind kind, std::string_view what, int rank, const std::source_location& where) {
  const std::string file = std::filesystem::path(where.file_name()).filename().string();
  const std::string who = rank < 0 ? "" : fmt::format(", rank {}", rank);
  return fmt::format("{} [{}{}, {}:{}]", what, to_string(kind), who, file, where.line());
}

}  // namespace

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::input:
      return "input";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::mpi:
      return "mpi";
    case ErrorKind::cuda:
      return "cuda";
    case ErrorKind::io:
      return "io";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::numeric:
      return "numeric";
    case ErrorKind::verification:
      return "verification";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string_view what, int native_code, std::source_location where)
    : Error(kind, what, native_code, world_rank(), where) {}

Error::Error(ErrorKind kind, std::string_view what, int native_code, int rank, std::source_location where)
    : std::runtime_error(describe(kind, what, rank, where)),
      kind_(kind),
      native_code_(native_code),
      rank_(rank),
      where_(where),
      message_(what) {}

void check_mpi(int code, std::string_view call, std::source_location where) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ErrorKind::mpi, fmt::format("{} failed: {}", call, std::string_view(text, length)), code,
              where);
}

}  // namespace selvage
