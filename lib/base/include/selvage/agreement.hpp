#pragma once

#include <selvage/error.hpp>

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace selvage {

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

/// An error that not all ranks raise, because one didn't come to the agreement.
class IncompleteError : public Error {
 public:
  IncompleteError(ErrorKind kind, std::string_view what, int native_code) : Error(kind, what, native_code) {}
};

/// What a user is told of an exception of the standard library, whose own words name a type where memory runs out.
[[nodiscard]] std::string_view text_of_standard(const std::exception& error);
/// The same of an exception of unknown type.
inline constexpr std::string_view text_of_other = "an exception of unknown type";
/// The message of an error of that rank, for all ranks to read.
[[nodiscard]] std::string naming_rank(const std::string& message, int rank);

/// How long ranks wait for each other, in milliseconds.
/// SELVAGE_TIMEOUT_MS (default 30 s), and for files SELVAGE_IO_TIMEOUT_MS (default 2 minutes: disks may be
/// slow).
[[nodiscard]] std::int64_t agreement_timeout_ms();
[[nodiscard]] std::int64_t io_timeout_ms();

/// Runs `work` on every rank, then makes all ranks end alike: if it threw on any, all throw that rank's
/// error (the lowest failing rank's), whatever they themselves have seen. Collective.
///
/// The agreement uses `comm` with two tags of its own (0x5e1f and 0x5e20), so `work` may be collective too as long as it is not
/// left by one rank in the middle of a collective; if it is, the rank that failed gives up waiting after
/// `timeout_ms` and throws its own error, not agreed.
///
/// Where `work` threw Error{timeout}, somebody is missing already: ranks then have two seconds to come, and the message
/// also names the one that doesn't. So `together(comm, what, [&] { throw; })` finds out whom all are waiting for.
/// Ranks that are in different agreements hear of each other, and wait as long as the least patient. Rank 0 decides: where it
/// doesn't come, the others wait up to four seconds longer.
/// \throws AgreedError; IncompleteError where a rank didn't come, Error{timeout} that names it if nobody failed
void together(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
              std::int64_t timeout_ms = agreement_timeout_ms());

/// together() whose message names the rank that failed, where not all did, and the work where what it threw is no Error.
void together_naming(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
                     std::int64_t timeout_ms = agreement_timeout_ms());

/// together() with work that waits for other ranks without a bound of its own, as MPI-IO does. Where MPI has
/// MPI_THREAD_MULTIPLE it runs in a thread, and is given up after `timeout_ms`: the job must then end, since the thread
/// is left behind. It may go on after this has thrown, so `work` is copied, and has to own what it refers to.
/// After silence_ms() of <selvage/silence.hpp> rank 0 says what is waited for.
void together_bounded(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
                      std::int64_t timeout_ms = agreement_timeout_ms());

/// Reads a whole file on rank 0 and gives every rank its text, or the same error. Collective.
/// \throws AgreedError{input} with the path and the system's reason
[[nodiscard]] std::string read_text_everywhere(MPI_Comm comm, const std::string& path);

}  // namespace selvage
