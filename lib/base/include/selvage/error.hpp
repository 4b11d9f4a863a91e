#pragma once

#include <mpi.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace selvage {

/// What went wrong, coarse enough to choose an exit code from.
enum class ErrorKind {
  usage,         ///< a call or a command line that can't be right, whatever the data
  input,         ///< an input value, file or environment variable is unusable
  unsupported,   ///< valid, but not built or not possible on this machine
  mpi,           ///< an MPI call failed; native_code() is MPI's error code
  cuda,          ///< a CUDA call failed; native_code() is the cudaError_t
  io,            ///< a file could not be read or written; native_code() is errno where there is one
  timeout,       ///< a bounded wait ran out; the message names the late rank
  numeric,       ///< a computed value is NaN or infinite
  verification,  ///< a result differs from its oracle
};

[[nodiscard]] std::string_view to_string(ErrorKind kind);

/// The one exception type that Selvage throws.
///
/// what() reads "<what> [<kind>, rank R, file:line]"; everything in it is also available by itself. The rank
/// is the one in MPI_COMM_WORLD, or -1 before MPI_Init and after MPI_Finalize.
class Error : public std::runtime_error {
 public:
  /// \param kind  what went wrong
  /// \param what  one sentence with the actual values in it; no trailing full stop
  /// \param native_code  the failing library's own code, 0 where there is none
  Error(ErrorKind kind, std::string_view what, int native_code = 0,
        std::source_location where = std::source_location::current());

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] int native_code() const { return native_code_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const std::source_location& where() const { return where_; }
  /// The sentence alone, without kind, rank and place.
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  Error(ErrorKind kind, std::string_view what, int native_code, int rank, std::source_location where);

  ErrorKind kind_;
  int native_code_;
  int rank_;
  std::source_location where_;
  std::string message_;
};

/// Throws Error{mpi} with MPI's own text unless `code` is MPI_SUCCESS.
/// \param call  the name of the call that returned it, e.g. "MPI_Isend to rank 3"
void check_mpi(int code, std::string_view call, std::source_location where = std::source_location::current());

}  // namespace selvage
