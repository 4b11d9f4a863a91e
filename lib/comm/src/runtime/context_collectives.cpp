// What ranks of a Context agree on, and how long they wait for each other.
#include "context_state.hpp"
#include "wait.hpp"

#include <selvage/agreement.hpp>
#include <selvage/comm/box.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <set>
#include <utility>

namespace selvage::detail {
namespace {

/// The same on all ranks for the same text (FNV-1a).
int number_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U;
  return static_cast<int>(hash);
}

/// A collective call of a Context, as ranks compare it: the operation, then after a null character what is exchanged.
std::string call_text(std::string_view operation, std::string_view exchanged) {
  std::string text(operation);
  text += '\0';
  return text.append(exchanged);
}

}  // namespace

void ContextState::enter_collective() {
  // Publishes nothing but itself. Ranks of this host whose wait times out read it to name those that have not come.
  if (entered_ != nullptr) release_epoch(*entered_, entered_->epoch + 1);
  if (roll_call_) roll_call_->begin();
}

void ContextState::answer_roll_call() {
  if (roll_call_) roll_call_->answer();
}

std::vector<int> ContextState::silent_ranks() {
  return roll_call_ ? roll_call_->silent(roll_call_patience) : std::vector<int>();
}

/// A collective call can't be cancelled: MPI still writes to its buffers when the late rank comes. The buffers of an abandoned call are
/// therefore never freed.
template <class Buffers>
void ContextState::wait_collective(MPI_Request& request, std::unique_ptr<Buffers>& buffers,
                                   std::string_view operation) {
  try {
    wait_request(request, [&] { return describe_missing(operation); });
  } catch (const Error&) {
    mark_broken();
    static_cast<void>(buffers.release());
    throw;
  }
}

template <class T>
std::vector<T> ContextState::gather(const T& mine, std::string_view operation) {
  enter_collective();
  vote({}, operation, fmt::format("{} bytes of each rank", sizeof(T)));
  return all_gather(mine, operation);
}

template <class T>
std::vector<T> ContextState::all_gather(const T& mine, std::string_view operation) {
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
template std::vector<std::int64_t> ContextState::gather(const std::int64_t&, std::string_view);
template std::vector<SharedRange> ContextState::gather(const SharedRange&, std::string_view);
template std::vector<std::array<char, 128>> ContextState::gather(const std::array<char, 128>&,
                                                                 std::string_view);
template std::vector<Box<1>> ContextState::gather(const Box<1>&, std::string_view);
template std::vector<Box<2>> ContextState::gather(const Box<2>&, std::string_view);
template std::vector<Box<3>> ContextState::gather(const Box<3>&, std::string_view);

/// The refusal of the lowest rank that refuses. Collective.
std::string ContextState::first_refusal(const std::string& mine) {
  std::array<char, 256> text{};
  fmt::format_to_n(text.data(), text.size() - 1, "{}", mine);
  for (const auto& refusal : gather(text, "the construction of a Context")) {
    if (refusal.front() != 0) return refusal.data();
  }
  return {};
}

ContextState::Messages::~Messages() {
  if (!are_done()) static_cast<void>(new std::vector<std::shared_ptr<void>>(std::move(memory)));
}

bool ContextState::Messages::are_done() const {
  return std::ranges::all_of(requests, [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
}

MPI_Request* ContextState::Messages::add(int rank) {
  ranks.push_back(rank);
  return &requests.emplace_back(MPI_REQUEST_NULL);
}

void ContextState::wait_messages(Messages& messages, std::string_view purpose) {
  std::vector<int> completed(messages.requests.size());
  const auto done = [&] {
    int count = 0;
    answer_roll_call();
    check_mpi(MPI_Testsome(static_cast<int>(messages.requests.size()), messages.requests.data(), &count,
                           completed.data(), MPI_STATUSES_IGNORE),
              "MPI_Testsome");
    return messages.are_done();
  };
  const auto late = [&] {
    std::set<int> ranks;
    for (std::size_t i = 0; i < messages.ranks.size(); ++i) {
      if (messages.requests[i] != MPI_REQUEST_NULL) ranks.insert(messages.ranks[i]);
    }
    return fmt::format("rank {} {}", fmt::join(ranks, ", rank "), purpose);
  };
  try {
    wait_until(planning_timeout_, yields_, done, late);
  } catch (const Error&) {
    mark_broken();
    throw;
  }
}

void ContextState::wait_request(MPI_Request& request, const std::function<std::string()>& what) {
  const auto done = [&] {
    int completed = 0;
    answer_roll_call();
    check_mpi(MPI_Test(&request, &completed, MPI_STATUS_IGNORE), "MPI_Test");
    return completed != 0;
  };
  wait_until(planning_timeout_, yields_, done, what);
}

std::string ContextState::describe_missing(std::string_view operation) {
  std::string late;
  for (const PeerEntered& peer : peers_entered_) {
    const std::uint64_t seen = acquire_epoch(*reinterpret_cast<const Flag*>(peer.flag.data));
    if (has_reached(seen, entered_->epoch)) continue;
    late += fmt::format("{}rank {} (collective call {} wanted, {} seen)", late.empty() ? "" : ", ", peer.rank,
                        entered_->epoch, seen);
  }
  if (!late.empty()) return fmt::format("{} to enter {}", late, operation);
  // What ranks of other hosts publish can't be read here, and a rank that came may have stopped since.
  const std::vector<int> silent = silent_ranks();
  if (silent.empty()) return fmt::format("MPI to end {}, in which all ranks still wait", operation);
  return fmt::format("rank {} in {} (no answer)", fmt::join(silent, ", rank "), operation);
}

std::int64_t ContextState::agree(const std::optional<Error>& failure, std::string_view operation,
                                 std::int64_t number) {
  enter_collective();
  return vote(failure, operation, "errors", number);
}

/// Comes before whatever ranks exchange, because it has the same length in all calls: MPI ends the job where lengths differ.
std::int64_t ContextState::vote(const std::optional<Error>& failure, std::string_view operation,
                                std::string_view exchanged, std::int64_t own) {
  // The smallest of an inverse is the inverse of the largest.
  struct Vote {
    std::int64_t failed_rank;  ///< lowest of all; as many as there are for none
    std::int64_t has_failed;
    std::int64_t call;
    std::int64_t inverse_call;
    std::int64_t inverse_own;
  };
  constexpr int numbers = sizeof(Vote) / sizeof(std::int64_t);
  struct Votes {
    Vote mine;
    Vote lowest;
  };
  const std::string call = call_text(operation, exchanged);
  const std::int64_t number = number_of(call);
  auto votes = std::make_unique<Votes>();
  votes->mine = {failure ? rank_ : size_, failure ? 1 : 0, number, ~number, ~own};
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(&votes->mine, &votes->lowest, numbers, MPI_INT64_T, MPI_MIN, comm_, &request),
            "MPI_Iallreduce");
  wait_collective(request, votes, operation);
  const Vote& lowest = votes->lowest;
  if (lowest.call != ~lowest.inverse_call) throw_different_calls(call, operation);
  if (lowest.failed_rank < size_) {
    throw_failure_of(static_cast<int>(lowest.failed_rank), lowest.has_failed != 0, failure, operation);
  }
  return ~lowest.inverse_own;
}

/// The next collective calls of these ranks would not match: MPI would abort or wait forever.
void ContextState::throw_different_calls(std::string_view call, std::string_view operation) {
  std::array<char, 128> name{};
  call.copy(name.data(), name.size() - 1);
  const auto names = all_gather(name, operation);
  const auto other = std::ranges::find_if(names, [&](const auto& each) { return each != names.front(); });
  const std::string_view first = names.front().data();
  if (first == other->data()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("ranks 0 and {} are both in {}, but with other types or other numbers of arguments",
                    other - names.begin(), first));
  }
  throw Error(ErrorKind::usage,
              fmt::format("ranks don't make the same calls in the same order: rank 0 is in {}, rank {} in {}",
                          first, other - names.begin(), other->data()));
}

/// Throws the failure of one rank on all ranks.
void ContextState::throw_failure_of(int failed, bool have_all_failed, const std::optional<Error>& own,
                                    std::string_view operation) {
  struct Message {
    int kind;
    int native_code;
    char text[1024];
  };
  auto shared_message = std::make_unique<Message>();
  Message& message = *shared_message;
  if (failed == rank_) {
    message.kind = static_cast<int>(own->kind());
    message.native_code = own->native_code();
    const std::string text = have_all_failed ? own->message() : naming_rank(own->message(), rank_);
    text.copy(message.text, sizeof message.text - 1);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&message, sizeof message, MPI_BYTE, failed, comm_, &request), "MPI_Ibcast");
  wait_collective(request, shared_message, operation);
  throw Error(static_cast<ErrorKind>(message.kind), message.text, message.native_code);
}

/// Uses a communicator of its own. On comm_ it could match a call that another rank has abandoned; here it can only match another
/// parting, if some ranks skip theirs.
void ContextState::try_barrier(std::chrono::milliseconds longest,
                               const std::function<void()>& progress) noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized || std::uncaught_exceptions() != 0) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(parting_comm_, &request) != MPI_SUCCESS || !completes_within(longest, request, progress)) {
    mark_broken();
    return;
  }
  // The other ranks unmapped it before they came.
  parted_.clear();
}

void ContextState::make_mapping(bool on_host, const std::function<void()>& make) {
  try {
    make();
  } catch (...) {
    if (!on_host) try_barrier();
    throw;
  }
}

std::shared_ptr<void> ContextState::freed_after_barrier(std::shared_ptr<void> memory) {
  // Made here, because the end of the owner must not fail.
  auto entry = std::make_shared<std::list<std::shared_ptr<void>>>(1, std::move(memory));
  return {entry->front().get(), [this, entry](void*) { parted_.splice(parted_.end(), *entry); }};
}

void ContextState::try_barrier() noexcept {
  try_barrier(parting_time, [] {});
}

bool ContextState::completes_within(std::chrono::milliseconds longest, MPI_Request& request,
                                    const std::function<void()>& progress) noexcept {
  const auto end = std::chrono::steady_clock::now() + longest;
  int done = 0;
  while (done == 0 && std::chrono::steady_clock::now() < end) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    progress();
    if (done == 0) give_way();
  }
  return done != 0;
}

void ContextState::all_or_none(std::string_view operation, const std::function<void()>& step) {
  static_cast<void>(largest_or_none(operation, [&] {
    step();
    return std::int64_t{0};
  }));
}

std::int64_t ContextState::largest_or_none(std::string_view operation,
                                           const std::function<std::int64_t()>& step) {
  std::optional<Error> failure;
  std::int64_t number = 0;
  try {
    number = step();
  } catch (const Error& error) {
    // After a timeout the other ranks can't be expected to agree in time.
    if (error.kind() == ErrorKind::timeout) throw;
    failure = error;
  } catch (const std::exception& error) {
    // Another exception, for example when Kokkos finds no memory. The other ranks must be told of that too.
    failure = Error(ErrorKind::unsupported, fmt::format("{}: {}", operation, text_of_standard(error)));
  } catch (...) {
    failure = Error(ErrorKind::unsupported, fmt::format("{}: {}", operation, text_of_other));
  }
  return agree(failure, operation, number);
}

std::vector<ContextState::Extremes> ContextState::extremes(const std::vector<int>& values,
                                                           std::string_view operation) {
  enter_collective();
  vote({}, operation, fmt::format("{} numbers", values.size()));
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
  enter_collective();
  vote({}, operation, "a text");
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
