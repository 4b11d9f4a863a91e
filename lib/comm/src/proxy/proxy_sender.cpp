#include "proxy_sender.hpp"

#include "proxy/copies/multipath_copier.hpp"
#include "runtime/cancel_receive.hpp"
#include "runtime/message_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace selvage::detail {

std::uint64_t& arrival_word(std::byte* base, std::uint64_t arrival) {
  return *reinterpret_cast<std::uint64_t*>(base + arrival);
}

ProxySender::ProxySender(ContextState& context, const WindowTable& windows, int header_tag, Tags payload_tags,
                         MemoryKind memory)
    : context_(context),
      windows_(windows),
      header_tag_(header_tag),
      payload_tags_(std::move(payload_tags)),
      host_copier_(make_copier(MemoryKind::host)),
      device_copier_(memory == MemoryKind::device ? make_copier(memory) : nullptr) {}

/// Memory that MPI or a GPU still uses, or to which a target's acknowledgement will be written, is never freed.
ProxySender::~ProxySender() {
  const bool is_copied = retire(std::move(device_copier_), context_.timeout());
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  static_cast<void>(cancel_receives());
  if (!requests_.empty()) context_.mark_broken();
  const auto is_awaited = [](const Transfer& transfer) { return !transfer.is_acknowledged; };
  const bool is_used = !is_copied || !requests_.empty() || std::ranges::any_of(transfers_, is_awaited);
  if (is_used) static_cast<void>(new std::list<Transfer>(std::move(transfers_)));
}

void ProxySender::disown() {
  class Nobody final : public TransferWatcher {
    void local_done(std::uint64_t) override {}
    void remote_done(std::uint64_t) override {}
  };
  static Nobody nobody;
  static_cast<void>(cancel_receives());
  for (Transfer& transfer : transfers_) transfer.watcher = &nobody;
}

bool ProxySender::cancel_receives() {
  bool has_ended = true;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (owners_[i].expected_bytes < 0) continue;
    context_.mark_broken();
    if (!cancel_receive(requests_[i])) {
      has_ended = false;
      continue;
    }
    --owners_[i].transfer->requests;
    owners_[i].transfer->stage = Transfer::Stage::none;
  }
  forget_done_requests();
  return has_ended;
}

Copier& ProxySender::copier_for(MemoryKind memory) {
  if (memory == MemoryKind::host) return *host_copier_;
  // Only kernels of host spaces come here: no kernel on the GPU waits for these copies.
  if (!device_copier_) device_copier_ = make_copier(memory);
  return *device_copier_;
}

void ProxySender::start(const NetworkOperation& operation, std::uint64_t epoch, TransferWatcher& watcher,
                        std::uint64_t cookie) {
  Transfer& transfer = transfers_.emplace_back();
  transfer.watcher = &watcher;
  transfer.cookie = cookie;
  if (operation.own_flag != nullptr) return start_mapped(operation, epoch, transfer);
  try {
    if (operation.kind == NetworkOperation::Kind::send) {
      return send_message(operation, transfer);
    }
    if (operation.kind == NetworkOperation::Kind::receive) {
      return receive(operation.local, operation.bytes, operation.target, operation.message_tag, transfer);
    }
    if (operation.kind == NetworkOperation::Kind::receive_up_to) {
      transfer.staged = operation;
      transfer.stage = Transfer::Stage::awaited;
      return;
    }
    transfer.window = windows_.begin(operation.window);
    const WindowState& window = *transfer.window;
    window.require_inside(operation.offset, operation.bytes);
    if (operation.arrival != NetworkOperation::no_arrival) window.require_word(operation.arrival);
    if (operation.target < 0 || operation.target >= context_.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("a transfer to rank {} of {}", operation.target, context_.size()));
    }
    if (window.mapped[operation.target].data != nullptr) {
      return start_by_copy(operation, window, epoch, transfer);
    }
    start_by_message(operation, window, epoch, transfer);
  } catch (const Error&) {
    if (transfer.requests == 0) transfers_.pop_back();
    throw;
  }
}

void ProxySender::start_by_copy(const NetworkOperation& operation, const WindowState& window,
                                std::uint64_t arrival_value, Transfer& transfer) {
  Copier& copier = copier_for(window.memory);
  std::byte* base = window.mapped[operation.target].data;
  if (operation.kind == NetworkOperation::Kind::get) {
    copier.copy(operation.local, base + operation.offset, operation.bytes);
  } else {
    copier.copy(base + operation.offset, operation.local, operation.bytes);
    // Publishes to the target's kernels: the bytes just put.
    if (operation.arrival != NetworkOperation::no_arrival) {
      copier.release(arrival_word(base, operation.arrival), arrival_value);
    }
  }
  transfer.copier = &copier;
  transfer.copy_ticket = copier.mark();
}

void ProxySender::start_by_message(const NetworkOperation& operation, const WindowState& window,
                                   std::uint64_t arrival_value, Transfer& transfer) {
  // Checked before the header is sent: otherwise the target would wait for a payload that never comes.
  static_cast<void>(message_size(operation.bytes));
  const bool is_put = operation.kind == NetworkOperation::Kind::put;
  TransferHeader& header = transfer.header;
  header.kind = is_put ? TransferHeader::Kind::put : TransferHeader::Kind::get;
  header.window = operation.window;
  header.payload_tag = payload_tags_.first() + (is_put ? 0 : 1);
  header.offset = operation.offset;
  header.bytes = operation.bytes;
  header.arrival = operation.arrival;
  header.arrival_value = arrival_value;
  header.transfer = reinterpret_cast<std::uintptr_t>(&transfer);
  header.is_inline =
      is_put && window.memory == MemoryKind::host && operation.bytes <= TransferHeader::inline_bytes ? 1 : 0;
  if (header.is_inline != 0 && operation.bytes > 0) {
    std::memcpy(header.payload.data(), operation.local, operation.bytes);
  }
  transfer.is_acknowledged = !is_put;
  std::byte* payload = operation.local;
  if (window.staged[operation.target] && operation.bytes > 0) {
    transfer.staged = operation;
    transfer.staged.memory = window.memory;
    transfer.staging.resize(operation.bytes);
    payload = transfer.staging.data();
    transfer.stage = is_put ? Transfer::Stage::to_be_sent : Transfer::Stage::received;
    if (is_put) return copy_staged(payload, operation.local, transfer);
  }
  if (is_put) return send_put(operation, payload, transfer);
  receive(payload, operation.bytes, operation.target, header.payload_tag, transfer);
  send(&header, header.message_bytes(), operation.target, header_tag_, transfer);
}

/// Payloads are matched in the order of their headers, so both are sent together.
void ProxySender::send_put(const NetworkOperation& operation, const std::byte* payload, Transfer& transfer) {
  const TransferHeader& header = transfer.header;
  send(&header, header.message_bytes(), operation.target, header_tag_, transfer);
  if (header.is_inline == 0) send(payload, operation.bytes, operation.target, header.payload_tag, transfer);
}

void ProxySender::copy_staged(std::byte* target, const std::byte* source, Transfer& transfer) {
  Copier& copier = copier_for(transfer.staged.memory);
  copier.copy(target, source, transfer.staged.bytes);
  transfer.copier = &copier;
  transfer.copy_ticket = copier.mark();
}

/// \return whether the staging memory is no longer needed
bool ProxySender::advance_staged(Transfer& transfer) {
  if (transfer.stage == Transfer::Stage::none) return true;
  if (transfer.stage == Transfer::Stage::awaited) {
    receive_found(transfer);
    return false;
  }
  if (transfer.stage == Transfer::Stage::received) {
    copy_staged(transfer.staged.local, transfer.staging.data(), transfer);
    transfer.stage = Transfer::Stage::none;
    return true;
  }
  if (!transfer.copier->has_done(transfer.copy_ticket)) return false;
  transfer.copier = nullptr;
  transfer.stage = Transfer::Stage::none;
  send_put(transfer.staged, transfer.staging.data(), transfer);
  return false;
}

/// A message is received when its length is known. If a receive is posted beforehand and is too short, Open MPI 4.1 writes past its end
/// when it reads the sender's memory at once (CMA). A message that is too long is received in staging memory.
void ProxySender::receive_found(Transfer& transfer) {
  const NetworkOperation& operation = transfer.staged;
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Improbe(operation.target, operation.message_tag, context_.comm(), &found, &message, &status),
            "MPI_Improbe");
  if (found == 0) return;
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  const bool fits = static_cast<std::uint64_t>(bytes) <= operation.bytes;
  transfer.stage = fits ? Transfer::Stage::none : Transfer::Stage::received;
  if (!fits) transfer.staging.resize(static_cast<std::size_t>(bytes));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Imrecv(fits ? operation.local : transfer.staging.data(), bytes, MPI_BYTE, &message, &request),
            "MPI_Imrecv");
  requests_.push_back(request);
  owners_.push_back({&transfer, bytes});
  ++transfer.requests;
}

void ProxySender::send(const void* data, std::uint64_t bytes, int rank, int tag, Transfer& transfer) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(data, message_size(bytes), MPI_BYTE, rank, tag, context_.comm(), &request),
            "MPI_Isend");
  requests_.push_back(request);
  owners_.push_back({&transfer, -1});
  ++transfer.requests;
}

void ProxySender::send_message(const NetworkOperation& operation, Transfer& transfer) {
  if (!operation.is_synchronous)
    return send(operation.local, operation.bytes, operation.target, operation.message_tag, transfer);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Issend(operation.local, message_size(operation.bytes), MPI_BYTE, operation.target,
                       operation.message_tag, context_.comm(), &request),
            "MPI_Issend");
  requests_.push_back(request);
  owners_.push_back({&transfer, -1});
  ++transfer.requests;
}

void ProxySender::receive(void* data, std::uint64_t bytes, int rank, int tag, Transfer& transfer) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Irecv(data, message_size(bytes), MPI_BYTE, rank, tag, context_.comm(), &request),
            "MPI_Irecv");
  requests_.push_back(request);
  owners_.push_back({&transfer, static_cast<std::int64_t>(bytes)});
  ++transfer.requests;
}

bool ProxySender::test_requests() {
  if (requests_.empty()) return false;
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int completed = 0;
  const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &completed,
                                indices_.data(), statuses_.data());
  if (code != MPI_ERR_IN_STATUS) check_mpi(code, "MPI_Testsome");
  std::optional<Error> failure;
  for (int i = 0; i < completed; ++i) {
    const Owner& owner = owners_[indices_[i]];
    try {
      require_whole(owner, statuses_[i], code == MPI_ERR_IN_STATUS);
      --owner.transfer->requests;
    } catch (const Error& error) {
      // The other requests must be handled first: MPI reports them only once.
      if (!failure) failure = error;
    }
  }
  forget_done_requests();
  if (failure) throw *failure;
  return completed > 0;
}

void ProxySender::forget_done_requests() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    owners_[kept++] = owners_[i];
  }
  requests_.resize(kept);
  owners_.resize(kept);
}

/// A message of an unexpected length shows that ranks call different operations.
void ProxySender::require_whole(const Owner& owner, const MPI_Status& status, bool failed) const {
  if (failed) check_mpi(status.MPI_ERROR, "MPI_Testsome");
  if (owner.expected_bytes < 0) return;
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  if (bytes == owner.expected_bytes) return;
  throw Error(ErrorKind::usage, fmt::format("rank {} sent {} bytes, this rank expects {}", status.MPI_SOURCE,
                                            bytes, owner.expected_bytes));
}

void ProxySender::start_mapped(const NetworkOperation& operation, std::uint64_t epoch, Transfer& transfer) {
  transfer.message = {operation.own_flag, operation.peer_flag, epoch, operation};
  if (operation.kind == NetworkOperation::Kind::send) return;
  // Publishes to the sender: this rank has finished reading the memory to which the message will be written.
  release_word(*operation.peer_flag, epoch);
  transfer.message.peer_flag = nullptr;
}

/// \return whether there is nothing left to do for a message to mapped memory
bool ProxySender::advance_mapped(Transfer& transfer) {
  MappedMessage& message = transfer.message;
  if (message.own_flag != nullptr) {
    // Acquires from the other rank: the message may be written (sender), or has been written (receiver).
    if (!has_reached(acquire_word(*message.own_flag), message.epoch)) return false;
    message.own_flag = nullptr;
    if (message.peer_flag != nullptr) {
      Copier& copier = copier_for(message.operation.memory);
      copier.copy(message.operation.remote, message.operation.local, message.operation.bytes);
      transfer.copier = &copier;
      transfer.copy_ticket = copier.mark();
    }
  }
  if (message.peer_flag == nullptr) return true;
  if (!transfer.copier->has_done(transfer.copy_ticket)) return false;
  // Publishes to the receiver: the message has been written.
  release_word(*message.peer_flag, message.epoch);
  message.peer_flag = nullptr;
  return true;
}

/// \return whether the transfer is over
bool ProxySender::advance(Transfer& transfer) {
  if (transfer.requests > 0 || !advance_mapped(transfer) || !advance_staged(transfer)) return false;
  if (transfer.copier != nullptr && !transfer.copier->has_done(transfer.copy_ticket)) return false;
  if (!transfer.is_local_done) {
    transfer.is_local_done = true;
    transfer.watcher->local_done(transfer.cookie);
  }
  // Acquires from the receiver, which may run on another thread: it no longer writes to the transfer, which may be freed.
  if (!transfer.is_acknowledged) return false;
  transfer.watcher->remote_done(transfer.cookie);
  return true;
}

bool ProxySender::progress() {
  bool busy = test_requests();
  for (auto transfer = transfers_.begin(); transfer != transfers_.end();) {
    const bool over = advance(*transfer);
    busy = busy || over;
    transfer = over ? transfers_.erase(transfer) : std::next(transfer);
  }
  return busy || !transfers_.empty();
}

}  // namespace selvage::detail
