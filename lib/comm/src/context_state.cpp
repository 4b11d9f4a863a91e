#include "context_state.hpp"

#include "device.hpp"
#include "wait.hpp"

#include <selvage/environment.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

namespace selvage::detail {
namespace {

constexpr std::int64_t default_timeout_ms = 30'000;
constexpr std::int64_t longest_timeout_ms = 86'400'000;

std::chrono::milliseconds read_timeout() {
  return std::chrono::milliseconds(
      environment_integer("SELVAGE_TIMEOUT_MS", default_timeout_ms, 1, longest_timeout_ms));
}

void require_mpi() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized) throw Error(ErrorKind::usage, "call MPI_Init before making a selvage::Context");
}

int largest_tag(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &found), "MPI_Comm_get_attr(MPI_TAG_UB)");
  constexpr int least_by_standard = 32767;
  return found ? *static_cast<int*>(value) : least_by_standard;
}

}  // namespace

ContextState::ContextState(MPI_Comm comm) : timeout_(read_timeout()) {
  require_mpi();
  MPI_Request duplicated = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(comm, &comm_, &duplicated), "MPI_Comm_idup");
  wait_all({&duplicated, 1}, [] { return "all ranks to make a selvage::Context"; });
  // Errors come back as codes, so that they can be thrown with what was being done.
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  tag_limit_ = largest_tag(comm_);
  machine_ = topo::detect(comm_, {.gpu_pci_bus_id = device_pci_bus_id()});
  yields_ = machine_.ranks_exceed_cores(rank_);
  probe_mappings();
}

ContextState::~ContextState() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  // While an exception unwinds, other ranks may never come to a collective call; they are about to be ended.
  if (!finalized && comm_ != MPI_COMM_NULL && std::uncaught_exceptions() == 0) MPI_Comm_free(&comm_);
}

/// Each rank publishes one block and maps those of its host; one failure anywhere turns mapping off for all.
void ContextState::probe_mappings() {
  SharedRange mine;
  std::string refusal;
  try {
    entered_ = reinterpret_cast<Flag*>(arena_.allocate(sizeof(Flag)));
    release_epoch(*entered_, 1);
    mine = *arena_.find(entered_, sizeof(Flag));
  } catch (const Error& error) {
    refusal = error.message();
  }
  std::vector<SharedRange> ranges(size_);
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, ranges.data(), sizeof mine, MPI_BYTE, comm_),
            "MPI_Allgather");
  for (int peer = 0; peer < size_ && refusal.empty(); ++peer) {
    if (peer == rank_ || !machine_.same_physical_host(rank_, peer)) continue;
    try {
      peers_entered_.push_back({peer, mappings_.map(ranges[peer])});
      const Flag& seen = *reinterpret_cast<const Flag*>(peers_entered_.back().flag.data);
      if (acquire_epoch(seen) == 0) refusal = fmt::format("rank {}'s shared memory reads as empty", peer);
    } catch (const Error& error) {
      refusal = error.message();
    }
  }
  std::array<char, 256> text{};
  fmt::format_to_n(text.data(), text.size() - 1, "{}", refusal);
  std::vector<char> texts(text.size() * size_);
  check_mpi(MPI_Allgather(text.data(), text.size(), MPI_CHAR, texts.data(), text.size(), MPI_CHAR, comm_),
            "MPI_Allgather");
  for (int peer = 0; peer < size_ && mapping_refusal_.empty(); ++peer)
    mapping_refusal_ = &texts[peer * text.size()];
}

void ContextState::wait_all(std::span<MPI_Request> requests, const std::function<std::string()>& what) const {
  const auto done = [&] {
    int all = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    return all != 0;
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

void ContextState::wait_collective(MPI_Request& request, std::string_view operation) {
  wait_all({&request, 1}, [&] { return fmt::format("{} to enter {}", ranks_behind(), operation); });
}

void ContextState::agree(const std::optional<Error>& failure, std::string_view operation) {
  if (entered_ != nullptr) release_epoch(*entered_, entered_->epoch + 1);
  struct Message {
    int kind;
    int native_code;
    char text[1024];
  };
  MPI_Request request = MPI_REQUEST_NULL;
  const int mine = failure ? rank_ : size_;
  int failed = size_;
  check_mpi(MPI_Iallreduce(&mine, &failed, 1, MPI_INT, MPI_MIN, comm_, &request), "MPI_Iallreduce");
  wait_collective(request, operation);
  if (failed == size_) return;

  Message message{};
  if (failed == rank_) {
    message.kind = static_cast<int>(failure->kind());
    message.native_code = failure->native_code();
    fmt::format_to_n(message.text, sizeof message.text - 1, "{}", failure->message());
  }
  check_mpi(MPI_Ibcast(&message, sizeof message, MPI_BYTE, failed, comm_, &request), "MPI_Ibcast");
  wait_collective(request, operation);
  throw Error(static_cast<ErrorKind>(message.kind), message.text, message.native_code);
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
  const int count = static_cast<int>(values.size());
  std::vector<ValueRank> mine;
  for (const int value : values) mine.push_back({value, rank_});
  std::vector<ValueRank> smallest(count);
  std::vector<ValueRank> largest(count);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(mine.data(), smallest.data(), count, MPI_2INT, MPI_MINLOC, comm_, &request),
            "MPI_Iallreduce");
  wait_collective(request, operation);
  check_mpi(MPI_Iallreduce(mine.data(), largest.data(), count, MPI_2INT, MPI_MAXLOC, comm_, &request),
            "MPI_Iallreduce");
  wait_collective(request, operation);
  std::vector<Extremes> result;
  for (int i = 0; i < count; ++i) {
    result.push_back({smallest[i].value, smallest[i].rank, largest[i].value, largest[i].rank});
  }
  return result;
}

int ContextState::take_tags(int count) {
  if (next_tag_ > tag_limit_ - count) next_tag_ = 0;
  const int first = next_tag_;
  next_tag_ += count;
  return first;
}

}  // namespace selvage::detail
