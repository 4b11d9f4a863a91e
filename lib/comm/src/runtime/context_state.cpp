#include "context_state.hpp"

#include "environment_options.hpp"
#include "gpu/device.hpp"
#include "gpu_aware.hpp"
#include "service.hpp"
#include "start_remarks.hpp"
#include "wait.hpp"

#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/field.hpp>
#include <selvage/counted.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

namespace selvage::detail {
namespace {

constexpr std::string_view context_construction = "the construction of a Context";

/// On communicators that this library didn't make. Those of together() come before it.
constexpr int first_meeting_tag = 0x5e21;

/// An error in it is thrown on all ranks together, once they can communicate.
TimeLimits limits_or_default(const ContextOptions& options) {
  try {
    return time_limits(options);
  } catch (const Error&) {
    return {};
  }
}

/// Checks for errors at which MPI would abort or crash.
void require_ranks(MPI_Comm comm) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized) throw Error(ErrorKind::usage, "call MPI_Init before making a selvage::Context");
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) throw Error(ErrorKind::usage, "a selvage::Context can't be made after MPI_Finalize");
  if (comm == MPI_COMM_NULL)
    throw Error(ErrorKind::usage, "a selvage::Context needs a communicator; this one is MPI_COMM_NULL");
  int joins_two_groups = 0;
  check_mpi(MPI_Comm_test_inter(comm, &joins_two_groups), "MPI_Comm_test_inter");
  if (joins_two_groups != 0) {
    throw Error(ErrorKind::usage,
                "a selvage::Context needs one group of ranks: an inter-communicator has two, see "
                "MPI_Intercomm_merge");
  }
}

int largest_tag(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &found), "MPI_Comm_get_attr(MPI_TAG_UB)");
  constexpr int least_by_standard = 32767;
  return found ? *static_cast<int*>(value) : least_by_standard;
}

}  // namespace

ContextState::ContextState(MPI_Comm comm, int device, std::any space, ContextOptions options)
    : device_(device), space_(std::move(space)), options_(std::move(options)) {
  const TimeLimits limits = limits_or_default(options_);
  timeout_ = limits.timeout;
  setup_timeout_ = planning_timeout_ = limits.setup_timeout;
  require_ranks(comm);
  const DeviceScope scope(device_);
  comm_ = duplicate(comm);
  users_comm_ = duplicate(comm_);
  parting_comm_ = duplicate(comm_);
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  try {
    detect_and_probe();
  } catch (...) {
    // The destructor is not called. After a time-out, ranks that come late may still match this rank's calls.
    if (all_part_in_order()) free_communicators();
    throw;
  }
}

void ContextState::detect_and_probe() {
  all_or_none(context_construction, [&] { check_settings(options_); });
  threads_refusal_ = why_no_service_threads(options_.service_threads);
  tags_.emplace(largest_tag(comm_));
  service_tag_ = take_tags(1);
  roll_call_.emplace(comm_, take_tags(RollCall::tags));
  const auto wait = [&](MPI_Request& request, std::string_view what) {
    wait_request(request, [&] { return describe_missing(what); });
  };
  machine_ = topo::detect(comm_, {.gpu_pci_bus_id = device_pci_bus_id(device_), .wait = wait});
  yields_ = machine_.ranks_exceed_cores(rank_);
  if (rank_ == 0) {
    for (const std::string& remark : start_remarks(machine_, rank_, device_)) log(remark);
  }
  probe_mappings();
  const std::string refusal = first_refusal(device_memory_refusal(device_));
  device_mapping_refusal_ = refusal;
  gpu_aware_refusal_ = refusal;
  if (!refusal.empty()) return;
  probe_device_mappings();
  probe_gpu_aware_mpi();
}

void ContextState::log(std::string_view message) const {
  if (options_.log) {
    options_.log(message);
  } else {
    fmt::print(stderr, "selvage: {}\n", message);
  }
}

/// Nothing is sent on `comm`, which may be the user's, unless time runs out.
MPI_Comm ContextState::duplicate(MPI_Comm comm) {
  RollCall roll_call(comm, first_meeting_tag);
  MPI_Request duplicated = MPI_REQUEST_NULL;
  auto result = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  check_mpi(MPI_Comm_idup(comm, result.get(), &duplicated), "MPI_Comm_idup");
  const auto done = [&] {
    int completed = 0;
    roll_call.answer();
    check_mpi(MPI_Test(&duplicated, &completed, MPI_STATUS_IGNORE), "MPI_Test");
    return completed != 0;
  };
  const auto late = [&] {
    const std::vector<int> silent = roll_call.silent(roll_call_patience);
    const std::string ranks =
        silent.empty() ? "all ranks" : fmt::format("rank {}", fmt::join(silent, ", rank "));
    return ranks + " to make a selvage::Context";
  };
  try {
    wait_until(planning_timeout_, yields_, done, late);
  } catch (const Error&) {
    // MPI still writes to it when the late rank comes.
    static_cast<void>(result.release());
    throw;
  }
  // MPI then returns errors as codes, and they are thrown with the name of the call.
  check_mpi(MPI_Comm_set_errhandler(*result, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return *result;
}

ContextState::~ContextState() {
  const DeviceScope scope(device_);
  while (!kept_.empty()) kept_.pop_back();
  space_.reset();  // Kokkos frees the last copy's memory on its GPU, and leaves that current
  int finalized = 0;
  MPI_Finalized(&finalized);
  // While an exception unwinds, other ranks may never come to a collective call; they are about to be ended.
  if (finalized || std::uncaught_exceptions() != 0 || !all_part_in_order()) return;
  free_communicators();
}

void ContextState::free_communicators() noexcept {
  for (MPI_Comm* comm : {&parting_comm_, &users_comm_, &comm_}) MPI_Comm_free(comm);
}

/// Whether all ranks are here and none has abandoned a call: only then is no message underway on comm_. MPI soon gives the id of a freed
/// communicator to another, and would take a late message for one of the new communicator. Open MPI 4.1 also lends ids to
/// the parent while ranks agree on one, and then waits forever for a message that it believes to be missing there. The vote is taken on
/// users_comm_, where the library has never abandoned a call that it could match.
bool ContextState::all_part_in_order() noexcept {
  struct Votes {
    int mine;
    int lowest;
  };
  auto* votes = new Votes{is_broken_ ? 0 : 1, 0};
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Iallreduce(&votes->mine, &votes->lowest, 1, MPI_INT, MPI_MIN, users_comm_, &request) !=
      MPI_SUCCESS) {
    return false;
  }
  // A rank that has abandoned a call knows the outcome. Memory of votes that it doesn't wait for is not freed: MPI still writes to it.
  if (is_broken_ || !completes_within(parting_time, request, [] {})) return false;
  const bool in_order = votes->lowest != 0;
  delete votes;
  return in_order;
}

/// Each rank publishes one block and maps those of the other ranks of its host. A failure on any rank switches mapping off for all.
void ContextState::probe_mappings() {
  SharedRange mine;
  std::string refusal;
  try {
    entered_ = reinterpret_cast<Flag*>(arena_->allocate(sizeof(Flag)));
    release_epoch(*entered_, 1);
    mine = *arena_->find(entered_, sizeof(Flag));
  } catch (const Error& error) {
    refusal = error.message();
  }
  const std::vector<SharedRange> ranges = gather(mine, context_construction);
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
  mapping_refusal_ = first_refusal(refusal);
}

/// The same for GPU memory, with a word that each rank stores into each peer's block and reads back.
void ContextState::probe_device_mappings() {
  std::string refusal;
  SharedRange mine;
  Buffer block;
  try {
    block = allocate_device_words(size_);
    if (const auto named = name_memory(block.data, size_ * sizeof(std::uint64_t), MemoryKind::device))
      mine = *named;
    else
      refusal = "CUDA names this GPU's memory to no other process (cudaIpcGetMemHandle fails)";
  } catch (const Error& error) {
    refusal = error.message();
  }
  const std::vector<SharedRange> ranges = gather(mine, context_construction);
  for (int peer = 0; peer < size_ && refusal.empty(); ++peer) {
    if (peer == rank_ || !machine_.same_physical_host(rank_, peer)) continue;
    try {
      const PeerMappings::Mapped mapped = mappings_.map(ranges[peer]);
      refusal = probe_device_word(mapped.data + rank_ * sizeof(std::uint64_t));
    } catch (const Error& error) {
      refusal = error.message();
    }
  }
  device_mapping_refusal_ = first_refusal(refusal);
}

void ContextState::probe_gpu_aware_mpi() {
  std::string doubt;
  all_or_none(context_construction, [&] { doubt = gpu_aware_mpi_doubt(); });
  gpu_aware_refusal_ = first_refusal(doubt);
  if (gpu_aware_refusal_.empty() && size_ > 1)
    gpu_aware_refusal_ = first_refusal(try_messages_between_gpus(*this));
  mpi_may_wait_for_kernels_ = mpi_may_wait_for_kernels();
}

std::string ContextState::waiting_kernels_refusal(int rank) const {
  if (!gpu_aware_refusal_.empty()) return gpu_aware_refusal_;
  if (!mpi_may_wait_for_kernels_ || !machine_.same_physical_host(rank_, rank)) return {};
  return fmt::format(
      "inside a host MPI may wait for kernels that wait for it, as with rank {} (UCX_TLS=^cuda_ipc keeps UCX "
      "from that)",
      rank);
}

void ContextState::require_own_device(const Executor& executor) const {
  if (executor.device() == no_device || executor.device() == device_) return;
  throw Error(ErrorKind::usage,
              device_ == no_device
                  ? fmt::format("an execution space on GPU {}, but the Context has no GPU", executor.device())
                  : fmt::format("an execution space on GPU {}, but the Context's GPU is {}",
                                executor.device(), device_));
}

void ContextState::require_own_device(const Field& field) const {
  if (field.memory != MemoryKind::device) return;
  const std::optional<int> device = device_of_memory(field.data);
  if (!device || *device == device_) return;
  throw Error(ErrorKind::usage,
              fmt::format("View \"{}\" lies on GPU {}, but the Context's GPU is {}: Grid::allocate gives "
                          "Views there",
                          field.label, *device, device_));
}

std::optional<SharedRange> ContextState::name_memory(const void* data, std::size_t bytes,
                                                     MemoryKind memory) const {
  return memory == MemoryKind::host ? arena_->find(data, bytes) : name_device_memory(data, bytes);
}

Tags::~Tags() {
  // After an abandoned operation messages may remain, which a later object with the same tags would take for its own.
  if (context_ != nullptr && !context_->is_broken_) context_->tags_->give_back(first_);
}

Tags ContextState::lease_tags(int count) {
  return {*this, take_tags(count)};
}

int ContextState::take_tags(int count) {
  std::optional<int> first = tags_->take(count);
  if (!first) {
    recycle_tags();
    first = tags_->take(count);
  }
  if (first) return *first;
  throw Error(
      ErrorKind::unsupported,
      fmt::format(
          "a Context has no {} message tags left of MPI's {}, which {} hold: let some of them end, or make "
          "another Context",
          count, largest_tag(comm_), counted(tags_->taken().size(), "object")));
}

/// Frees the tags that all ranks have given back. Tags of a message that nobody has received stay taken.
void ContextState::recycle_tags() {
  const auto taken = tags_->taken();
  std::vector<int> given_back = tags_->given_back();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (given_back[i] != 0 && has_message(taken[i].first, taken[i].second)) given_back[i] = 0;
  }
  std::vector<bool> by_all;
  for (const Extremes& each : extremes(given_back, "the recycling of message tags"))
    by_all.push_back(each.smallest != 0);
  tags_->free(by_all);
}

bool ContextState::has_message(int first, int count) const {
  for (int tag = first; tag < first + count; ++tag) {
    int found = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
    if (found != 0) return true;
  }
  return false;
}

}  // namespace selvage::detail
