// What ranks of a Context agree on, and how long they wait for each other.
#include "context_state.hpp"
#include "wait.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <exception>
#include <set>
#include <utility>

namespace selvage::detail {
namespace {

constexpr std::chrono::seconds parting_time{1};  ///< how long destructors wait for other ranks

}  // namespace

/// A collective call can't be cancelled: MPI still writes to its buffers when the late rank comes, so one
/// that is given up leaves them behind.
template <class Buffers>
void ContextState::wait_collective(MPI_Request& request, std::unique_ptr<Buffers>& buffers,
                                   std::string_view operation) {
  try {
    wait_request(request, [&] { return fmt::format("{} to enter {}", ranks_behind(), operation); });
  } catch (const Error&) {
    give_up();
    static_cast<void>(buffers.release());
    throw;
  }
}

template <class T>
std::vector<T> ContextState::gather(const T& mine, std::string_view operation) {
  if (entered_ != nullptr) release_epoch(*entered_, entered_->epoch + 1);
  struct Buffers {
    T mine;
    std::vector<T> all;
  };
  auto buffers = std::make_unique<Buffers>(Buffers{mine, std::vector<T>(size_)});
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(&buffers->mine, sizeof(T), MPI_BYTE, buffers->all.data(), sizeof(T), MPI_BYTE,
                           comm_, &request),
            "MPI_Iallgather");
  wait_collective(request, buffers, operation);
  return std::move(buffers->all);
}
template std::vector<SharedRange> ContextState::gather(const SharedRange&, std::string_view);
template std::vector<std::array<char, 128>> ContextState::gather(const std::array<char, 128>&,
                                                                 std::string_view);

/// The refusal of the lowest rank that has one. Collective.
std::string ContextState::first_refusal(const std::string& mine) {
  std::array<char, 256> text{};
  fmt::format_to_n(text.data(), text.size() - 1, "{}", mine);
  for (const auto& refusal : gather(text, "the construction of a Context")) {
    if (refusal.front() != 0) return refusal.data();
  }
  return {};
}

MPI_Request* ContextState::Messages::add(int rank) {
  ranks.push_back(rank);
  return &requests.emplace_back(MPI_REQUEST_NULL);
}

void ContextState::wait_messages(Messages& messages, std::string_view purpose) {
  std::vector<int> completed(messages.requests.size());
  const auto is_done = [](MPI_Request request) { return request == MPI_REQUEST_NULL; };
  const auto done = [&] {
    int count = 0;
    check_mpi(MPI_Testsome(static_cast<int>(messages.requests.size()), messages.requests.data(), &count,
                           completed.data(), MPI_STATUSES_IGNORE),
              "MPI_Testsome");
    return std::ranges::all_of(messages.requests, is_done);
  };
  const auto late = [&] {
    std::set<int> ranks;
    for (std::size_t i = 0; i < messages.ranks.size(); ++i) {
      if (!is_done(messages.requests[i])) ranks.insert(messages.ranks[i]);
    }
    return fmt::format("rank {} {}", fmt::join(ranks, ", rank "), purpose);
  };
  try {
    wait_until(timeout_, yields_, done, late);
  } catch (const Error&) {
    give_up();
    for (MPI_Request& request : messages.requests) {
      if (is_done(request)) continue;
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
    throw;
  }
}

void ContextState::wait_request(MPI_Request& request, const std::function<std::string()>& what) {
  const auto done = [&] {
    int completed = 0;
    check_mpi(MPI_Test(&request, &completed, MPI_STATUS_IGNORE), "MPI_Test");
    return completed != 0;
  };
  wait_until(timeout_, yields_, done, what);
}

std::string ContextState::ranks_behind() const {
  std::string late;
  for (const PeerEntered& peer : peers_entered_) {
    const std::uint64_t seen = acquire_epoch(*reinterpret_cast<const Flag*>(peer.flag.data));
    if (has_reached(seen, entered_->epoch)) continue;
    late += fmt::format("{}rank {} (collective call {} wanted, {} seen)", late.empty() ? "" : ", ", peer.rank,
                        entered_->epoch, seen);
  }
  return late.empty() ? "a rank of another host" : late;
}

void ContextState::agree(const std::optional<Error>& failure, std::string_view operation) {
  if (entered_ != nullptr) release_epoch(*entered_, entered_->epoch + 1);
  struct Votes {
    int mine;
    int lowest;
  };
  struct Message {
    int kind;
    int native_code;
    char text[1024];
  };
  MPI_Request request = MPI_REQUEST_NULL;
  auto votes = std::make_unique<Votes>(Votes{failure ? rank_ : size_, size_});
  check_mpi(MPI_Iallreduce(&votes->mine, &votes->lowest, 1, MPI_INT, MPI_MIN, comm_, &request),
            "MPI_Iallreduce");
  wait_collective(request, votes, operation);
  const int failed = votes->lowest;
  if (failed == size_) return;

  auto shared_message = std::make_unique<Message>();
  Message& message = *shared_message;
  if (failed == rank_) {
    message.kind = static_cast<int>(failure->kind());
    message.native_code = failure->native_code();
    fmt::format_to_n(message.text, sizeof message.text - 1, "{}", failure->message());
  }
  check_mpi(MPI_Ibcast(&message, sizeof message, MPI_BYTE, failed, comm_, &request), "MPI_Ibcast");
  wait_collective(request, shared_message, operation);
  throw Error(static_cast<ErrorKind>(message.kind), message.text, message.native_code);
}

/// On a communicator of its own: on comm_ a call that another rank gave up may still be open, which this one would match;
/// here it can only match another parting, where some ranks skip theirs.
void ContextState::try_barrier() noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized || std::uncaught_exceptions() != 0) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(parting_comm_, &request) != MPI_SUCCESS || !completes_soon(request)) give_up();
}

bool ContextState::completes_soon(MPI_Request& request) noexcept {
  const auto end = std::chrono::steady_clock::now() + parting_time;
  int done = 0;
  while (done == 0 && std::chrono::steady_clock::now() < end) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done == 0) sched_yield();
  }
  return done != 0;
}

void ContextState::all_or_none(std::string_view operation, const std::function<void()>& step) {
  std::optional<Error> failure;
  try {
    step();
  } catch (const Error& error) {
    // A rank that ran out of time can't expect the others to agree with it in time.
    if (error.kind() == ErrorKind::timeout) throw;
    failure = error;
  }
  agree(failure, operation);
}

std::vector<ContextState::Extremes> ContextState::extremes(const std::vector<int>& values,
                                                           std::string_view operation) {
  if (entered_ != nullptr) release_epoch(*entered_, entered_->epoch + 1);
  struct ValueRank {
    int value;
    int rank;
  };
  struct Buffers {
    std::vector<ValueRank> mine;
    std::vector<ValueRank> smallest;
    std::vector<ValueRank> largest;
  };
  const int count = static_cast<int>(values.size());
  auto buffers = std::make_unique<Buffers>();
  for (const int value : values) buffers->mine.push_back({value, rank_});
  buffers->smallest.resize(count);
  buffers->largest.resize(count);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(buffers->mine.data(), buffers->smallest.data(), count, MPI_2INT, MPI_MINLOC, comm_,
                           &request),
            "MPI_Iallreduce");
  wait_collective(request, buffers, operation);
  check_mpi(MPI_Iallreduce(buffers->mine.data(), buffers->largest.data(), count, MPI_2INT, MPI_MAXLOC, comm_,
                           &request),
            "MPI_Iallreduce");
  wait_collective(request, buffers, operation);
  std::vector<Extremes> result;
  for (int i = 0; i < count; ++i) {
    const ValueRank& smallest = buffers->smallest[i];
    const ValueRank& largest = buffers->largest[i];
    result.push_back({smallest.value, smallest.rank, largest.value, largest.rank});
  }
  return result;
}

std::string ContextState::broadcast(const std::string& text, std::string_view operation) {
  if (entered_ != nullptr) release_epoch(*entered_, entered_->epoch + 1);
  struct Buffers {
    int bytes;
    std::string text;
  };
  auto buffers = std::make_unique<Buffers>(Buffers{static_cast<int>(text.size()), text});
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&buffers->bytes, 1, MPI_INT, 0, comm_, &request), "MPI_Ibcast");
  wait_collective(request, buffers, operation);
  buffers->text.resize(static_cast<std::size_t>(buffers->bytes));
  check_mpi(MPI_Ibcast(buffers->text.data(), buffers->bytes, MPI_BYTE, 0, comm_, &request), "MPI_Ibcast");
  wait_collective(request, buffers, operation);
  return std::move(buffers->text);
}

}  // namespace selvage::detail
