#include "receiver.hpp"

#include "runtime/cancel_receive.hpp"
#include "runtime/message_size.hpp"

#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

namespace selvage::detail {
namespace {

/// The largest number of messages received in one poll, so that other members of the service are polled too.
constexpr int messages_per_poll = 64;

/// The target has sent back a pointer of this rank. The load acquires what the sender's thread wrote before it sent the header, false
/// among it; the store is the last access, for which that thread waits before it frees the transfer.
void note_acknowledged(Transfer& transfer) {
  if (!transfer.is_acknowledged.load(std::memory_order_acquire))
    transfer.is_acknowledged.store(true, std::memory_order_release);
}

}  // namespace

Receiver::Receiver(ContextState& context, const WindowTable& windows, int header_tag)
    : context_(context), windows_(windows), header_tag_(header_tag), host_copier_(make_host_copier()) {
  listen();
}

/// Memory that MPI or a GPU still uses is never freed.
Receiver::~Receiver() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) end_messages();
  const bool is_copied = retire(std::move(device_copier_), context_.timeout());
  if (is_copied && (answers_.empty() || finalized != 0)) return;
  static_cast<void>(new std::list<Answer>(std::move(answers_)));
}

void Receiver::end_messages() noexcept {
  if (!cancel_receive(request_)) {
    context_.mark_broken();
    static_cast<void>(incoming_.release());
  }
  try {
    static_cast<void>(advance_answers());
  } catch (const Error&) {
    // Answers that it has not finished are handled below.
  }
  if (!answers_.empty()) context_.mark_broken();
}

/// Handles one message at a time, because payloads are matched in the order of their headers.
void Receiver::listen() {
  check_mpi(MPI_Irecv(incoming_.get(), sizeof(TransferHeader), MPI_BYTE, MPI_ANY_SOURCE, header_tag_,
                      context_.comm(), &request_),
            "MPI_Irecv");
}

bool Receiver::poll() {
  bool busy = advance_answers();
  for (int i = 0; i < messages_per_poll; ++i) {
    int arrived = 0;
    MPI_Status status;
    check_mpi(MPI_Test(&request_, &arrived, &status), "MPI_Test");
    if (arrived == 0) break;
    busy = true;
    const TransferHeader header = *incoming_;
    listen();
    handle(header, status.MPI_SOURCE);
  }
  return busy;
}

void Receiver::handle(const TransferHeader& header, int rank) {
  switch (header.kind) {
    case TransferHeader::Kind::put:
      return land(header, rank);
    case TransferHeader::Kind::get:
      return reply(header, rank);
    case TransferHeader::Kind::acknowledge:
      return note_acknowledged(*reinterpret_cast<Transfer*>(header.transfer));
  }
}

void Receiver::prepare(MemoryKind memory) {
  if (memory == MemoryKind::device && !device_copier_) device_copier_ = make_device_copier();
}

Copier& Receiver::copier_for(MemoryKind memory) {
  return memory == MemoryKind::host ? *host_copier_ : *device_copier_;
}

Receiver::Answer& Receiver::begin_answer(const TransferHeader& header, int rank) {
  auto window = windows_.answer(header.window);
  window->require_inside(header.offset, header.bytes);
  Answer& answer = answers_.emplace_back();
  answer.header = header;
  answer.rank = rank;
  answer.window = std::move(window);
  return answer;
}

void Receiver::land(const TransferHeader& header, int rank) {
  Answer& answer = begin_answer(header, rank);
  const WindowState& window = *answer.window;
  std::byte* target = window.local.data + header.offset;
  if (header.is_inline != 0) {
    if (header.bytes > 0) std::memcpy(target, header.payload.data(), header.bytes);
    return deliver(answer);
  }
  answer.stage = Stage::landing;
  if (window.staged[rank]) {
    answer.staging.resize(header.bytes);
    target = answer.staging.data();
  }
  check_mpi(MPI_Irecv(target, message_size(header.bytes), MPI_BYTE, rank, header.payload_tag, context_.comm(),
                      &answer.request),
            "MPI_Irecv");
}

/// The put is over when its arrival word is written, which on a GPU is later.
void Receiver::deliver(Answer& answer) {
  const WindowState& window = *answer.window;
  Copier& copier = copier_for(window.memory);
  if (!answer.staging.empty())
    copier.copy(window.local.data + answer.header.offset, answer.staging.data(), answer.header.bytes);
  answer.stage = Stage::delivering;
  release_arrival(answer);
  answer.copy_ticket = copier.mark();
  if (copier.has_done(answer.copy_ticket)) acknowledge(answer);
}

/// Publishes to this rank's kernels: the bytes that were put.
void Receiver::release_arrival(const Answer& answer) {
  const TransferHeader& header = answer.header;
  if (header.arrival == NetworkOperation::no_arrival) return;
  const WindowState& window = *answer.window;
  copier_for(window.memory).release(arrival_word(window.local.data, header.arrival), header.arrival_value);
}

void Receiver::acknowledge(Answer& answer) {
  answer.header.kind = TransferHeader::Kind::acknowledge;
  answer.header.is_inline = 0;
  answer.stage = Stage::sending;
  check_mpi(MPI_Isend(&answer.header, answer.header.message_bytes(), MPI_BYTE, answer.rank, header_tag_,
                      context_.comm(), &answer.request),
            "MPI_Isend");
}

void Receiver::reply(const TransferHeader& header, int rank) {
  Answer& answer = begin_answer(header, rank);
  const WindowState& window = *answer.window;
  answer.stage = Stage::waiting;
  if (!window.staged[rank]) return send_in_order(answer);
  Copier& copier = copier_for(window.memory);
  answer.staging.resize(header.bytes);
  copier.copy(answer.staging.data(), window.local.data + header.offset, header.bytes);
  answer.copy_ticket = copier.mark();
  answer.stage = Stage::staging;
}

void Receiver::send_in_order(Answer& answer) {
  for (const Answer& other : answers_) {
    if (&other == &answer) break;
    if (other.rank == answer.rank && (other.stage == Stage::staging || other.stage == Stage::waiting)) return;
  }
  const TransferHeader& header = answer.header;
  const WindowState& window = *answer.window;
  const std::byte* payload =
      window.staged[answer.rank] ? answer.staging.data() : window.local.data + header.offset;
  answer.stage = Stage::sending;
  check_mpi(MPI_Isend(payload, message_size(header.bytes), MPI_BYTE, answer.rank, header.payload_tag,
                      context_.comm(), &answer.request),
            "MPI_Isend");
}

bool Receiver::is_received_or_sent(Answer& answer) {
  int done = 0;
  check_mpi(MPI_Test(&answer.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

bool Receiver::advance(Answer& answer) {
  const auto is_copied = [&] { return copier_for(answer.window->memory).has_done(answer.copy_ticket); };
  switch (answer.stage) {
    case Stage::landing:
      if (!is_received_or_sent(answer)) return false;
      deliver(answer);
      return true;
    case Stage::delivering:
      if (!is_copied()) return false;
      acknowledge(answer);
      return true;
    case Stage::staging:
      if (!is_copied()) return false;
      answer.stage = Stage::waiting;
      [[fallthrough]];
    case Stage::waiting:
      send_in_order(answer);
      return answer.stage == Stage::sending;
    case Stage::sending:
      return is_received_or_sent(answer);
  }
  return false;
}

bool Receiver::advance_answers() {
  bool busy = false;
  for (auto answer = answers_.begin(); answer != answers_.end();) {
    const bool was_sending = answer->stage == Stage::sending;
    const bool advanced = advance(*answer);
    busy = busy || advanced;
    answer = advanced && was_sending ? answers_.erase(answer) : std::next(answer);
  }
  return busy;
}

}  // namespace selvage::detail
