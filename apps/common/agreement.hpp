#pragma once

#include <selvage/error.hpp>

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace selvage::app {

/// An error that every rank of a communicator raises with the same text, because together() agreed on it.
class AgreedError : public Error {
 public:
  AgreedError(ErrorKind kind, std::string_view what, int native_code, int first_rank)
      : Error(kind, what, native_code), first_rank_(first_rank) {}
  /// The lowest rank on which it happened.
  [[nodiscard]] int first_rank() const { return first_rank_; }

 private:
  int first_rank_;
};

/// How long ranks wait for each other, in milliseconds.
/// SELVAGE_TIMEOUT_MS (default 30 s), and for files SELVAGE_IO_TIMEOUT_MS (default 10 minutes: disks may be
/// slow).
[[nodiscard]] std::int64_t agreement_timeout_ms();
[[nodiscard]] std::int64_t io_timeout_ms();

/// Runs `work` on every rank, then makes all ranks end alike: if it threw on any, all throw that rank's
/// error (the lowest failing rank's), whatever they themselves have seen. Collective.
///
/// The agreement uses `comm` with a tag of its own, so `work` may be collective too as long as it is not
/// left by one rank in the middle of a collective; if it is, the rank that failed gives up waiting after
/// `timeout_ms` and throws its own error, not agreed.
/// \throws AgreedError; Error{timeout} that names the rank which did not come
void together(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
              std::int64_t timeout_ms = agreement_timeout_ms());

/// Runs a collective `work` that gives up waiting without knowing for whom: those who waited in vain then call the roll.
/// \throws what `work` throws; in place of its Error{timeout} one that names the rank which did not come
template <class Work>
decltype(auto) naming_the_late(MPI_Comm comm, std::string_view what, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::timeout)
      together(
          comm, what, [] {}, 2000);
    throw;
  }
}

/// Reads a whole file on rank 0 and gives every rank its text, or the same error. Collective.
/// \throws AgreedError{input} with the path and the system's reason
[[nodiscard]] std::string read_text_everywhere(MPI_Comm comm, const std::string& path);

}  // namespace selvage::app
