#include "common/agreement.hpp"

#include <selvage/environment.hpp>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace selvage::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int report_tag = 0x5e1f;
constexpr int verdict_tag = 0x5e20;
/// What a rank that listens has for taking a message, while others are known or feared to be missing.
constexpr std::chrono::milliseconds time_to_take{500};

/// How a rank's work ended, or, as a verdict, how everybody's did. Sent as bytes between ranks of one
/// program.
struct Outcome {
  std::int32_t failed = 0;
  std::int32_t rank_missing = 0;  ///< somebody never came, so not everybody will raise this
  std::int32_t kind = 0;
  std::int32_t native_code = 0;
  std::int32_t rank = 0;
  std::array<char, 1004> text = {};  ///< null-terminated; 1 KiB in all goes eagerly
};
static_assert(std::is_trivially_copyable_v<Outcome> && sizeof(Outcome) == 1024);

Outcome failure(ErrorKind kind, int native_code, int rank, std::string_view text) {
  Outcome outcome{
      .failed = 1, .kind = static_cast<std::int32_t>(kind), .native_code = native_code, .rank = rank};
  text.copy(outcome.text.data(), outcome.text.size() - 1);
  return outcome;
}

Outcome outcome_of(const std::function<void()>& work, int rank) {
  try {
    work();
  } catch (const Error& error) {
    return failure(error.kind(), error.native_code(), rank, error.message());
  } catch (const std::exception& error) {
    return failure(ErrorKind::unsupported, 0, rank, error.what());
  }
  return {};
}

[[noreturn]] void raise(const Outcome& outcome) {
  if (outcome.rank_missing) {
    throw Error(static_cast<ErrorKind>(outcome.kind), outcome.text.data(), outcome.native_code);
  }
  throw AgreedError(static_cast<ErrorKind>(outcome.kind), outcome.text.data(), outcome.native_code,
                    outcome.rank);
}

/// False when the deadline passes first.
bool done_until(std::vector<MPI_Request>& requests, Clock::time_point deadline) {
  int done = 0;
  while (true) {
    check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall while ranks agree");
    if (done || Clock::now() >= deadline) return done != 0;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Waits for one message; false when the deadline passes first (the receive is then cancelled).
bool received_until(MPI_Request request, Clock::time_point deadline) {
  std::vector<MPI_Request> requests = {request};
  if (done_until(requests, deadline)) return true;
  check_mpi(MPI_Cancel(&request), "MPI_Cancel of a message that never came");
  check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait for a cancelled receive");
  return false;
}

/// One outcome on its way to ranks of which some may have stopped: a blocking send to those could wait forever.
class Sending {
 public:
  Sending(MPI_Comm comm, const Outcome& outcome, int tag)
      : comm_(comm), tag_(tag), outcome_(std::make_unique<Outcome>(outcome)) {}

  void start(int target) {
    requests_.push_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(outcome_.get(), sizeof(Outcome), MPI_BYTE, target, tag_, comm_, &requests_.back()),
              "MPI_Isend of an outcome");
  }

  /// MPI still reads what hasn't been taken by then, so that is left behind.
  void finish(Clock::time_point deadline) {
    if (!done_until(requests_, deadline)) static_cast<void>(outcome_.release());
  }

 private:
  MPI_Comm comm_;
  int tag_;
  std::unique_ptr<Outcome> outcome_;
  std::vector<MPI_Request> requests_;
};

struct Agreement {
  MPI_Comm comm;
  std::string_view what;
  std::int64_t timeout_ms;
  int rank = 0;
  int ranks = 1;

  [[nodiscard]] Outcome late(int late_rank) const {
    Outcome outcome =
        failure(ErrorKind::timeout, 0, late_rank,
                fmt::format("{}: rank {} did not come within {} ms", what, late_rank, timeout_ms));
    outcome.rank_missing = 1;
    return outcome;
  }

  /// Rank 0 hears everybody, and decides for the lowest rank that failed; a rank that never came counts as
  /// failed only where nobody has said why.
  Outcome decide(const Outcome& own, Clock::time_point deadline) const {
    std::optional<Outcome> first = own.failed ? std::optional(own) : std::nullopt;
    std::optional<Outcome> missing;
    std::vector<Outcome> reports(static_cast<std::size_t>(ranks));
    std::vector<MPI_Request> requests(reports.size(), MPI_REQUEST_NULL);
    for (int source = 1; source < ranks; ++source) {
      const auto i = static_cast<std::size_t>(source);
      check_mpi(MPI_Irecv(&reports[i], sizeof(Outcome), MPI_BYTE, source, report_tag, comm, &requests[i]),
                "MPI_Irecv of a rank's outcome");
    }
    for (int source = 1; source < ranks; ++source) {
      const auto i = static_cast<std::size_t>(source);
      if (!received_until(requests[i], deadline)) {
        if (!missing) missing = late(source);
      } else if (reports[i].failed && !first) {
        first = reports[i];
      }
    }
    if (first) first->rank_missing = missing.has_value();
    if (first) return *first;
    return missing.value_or(Outcome{});
  }

  void announce(const Outcome& verdict) const {
    Sending sending(comm, verdict, verdict_tag);
    for (int target = 1; target < ranks; ++target) sending.start(target);
    sending.finish(Clock::now() +
                   (verdict.rank_missing ? time_to_take : std::chrono::milliseconds(timeout_ms)));
  }

  /// The other ranks report and wait for the verdict, a little longer than rank 0 waits for them.
  Outcome ask(const Outcome& own, Clock::time_point deadline) const {
    Sending sending(comm, own, report_tag);
    sending.start(0);
    Outcome verdict;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Irecv(&verdict, sizeof(Outcome), MPI_BYTE, 0, verdict_tag, comm, &request),
              "MPI_Irecv of a verdict");
    const bool came = received_until(request, deadline + std::chrono::seconds(2));
    sending.finish(Clock::now() + time_to_take);
    if (came) return verdict;
    if (own.failed) throw Error(static_cast<ErrorKind>(own.kind), own.text.data(), own.native_code);
    throw Error(ErrorKind::timeout, late(0).text.data());
  }
};

struct FileText {
  std::string text;
  int error = 0;
};

constexpr std::size_t most_text_bytes = std::size_t{256} << 20;

FileText read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {"", EISDIR};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return {"", errno != 0 ? errno : EIO};
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return {"", EIO};
  if (text.size() > most_text_bytes) return {"", EFBIG};
  return {std::move(text), 0};
}

}  // namespace

std::int64_t agreement_timeout_ms() {
  return environment_integer("SELVAGE_TIMEOUT_MS", 30'000, 1, 86'400'000);
}

std::int64_t io_timeout_ms() {
  return environment_integer("SELVAGE_IO_TIMEOUT_MS", 600'000, 1, 86'400'000);
}

void together(MPI_Comm comm, std::string_view what, const std::function<void()>& work,
              std::int64_t timeout_ms) {
  Agreement agreement{.comm = comm, .what = what, .timeout_ms = timeout_ms};
  check_mpi(MPI_Comm_rank(comm, &agreement.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &agreement.ranks), "MPI_Comm_size");
  const Outcome own = outcome_of(work, agreement.rank);
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  Outcome verdict;
  if (agreement.rank == 0) {
    verdict = agreement.decide(own, deadline);
    agreement.announce(verdict);
  } else {
    verdict = agreement.ask(own, deadline);
  }
  if (verdict.failed) raise(verdict);
}

std::string read_text_everywhere(MPI_Comm comm, const std::string& path) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  FileText file;
  together(comm, "reading " + path, [&] {
    if (rank != 0) return;
    file = read_file(path);
    if (file.error == 0) return;
    throw Error(ErrorKind::input, fmt::format("cannot read {}: {}", path, std::strerror(file.error)),
                file.error);
  });
  std::int64_t bytes = static_cast<std::int64_t>(file.text.size());
  check_mpi(MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, comm), "MPI_Bcast of a file's length");
  file.text.resize(static_cast<std::size_t>(bytes));
  check_mpi(MPI_Bcast(file.text.data(), static_cast<int>(bytes), MPI_CHAR, 0, comm), "MPI_Bcast of a file");
  return file.text;
}

}  // namespace selvage::app
