#include "receiver.hpp"

#include <cstring>

namespace selvage::detail {
namespace {

/// Messages that one poll takes in, so that others get their turn.
constexpr int messages_per_poll = 64;

}  // namespace

Receiver::Receiver(ContextState& context, const WindowTable& windows, int header_tag)
    : context_(context), windows_(windows), header_tag_(header_tag), host_copier_(make_host_copier()) {
  listen();
}

Receiver::~Receiver() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized || request_ == MPI_REQUEST_NULL) return;
  MPI_Cancel(&request_);
  MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

/// One at a time: payloads are matched in the order of their headers.
void Receiver::listen() {
  check_mpi(MPI_Irecv(&incoming_, sizeof incoming_, MPI_BYTE, MPI_ANY_SOURCE, header_tag_, context_.comm(),
                      &request_),
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
    const CourierHeader header = incoming_;
    listen();
    handle(header, status.MPI_SOURCE);
  }
  return busy;
}

void Receiver::handle(const CourierHeader& header, int rank) {
  switch (header.kind) {
    case CourierHeader::Kind::put:
      return land(header, rank);
    case CourierHeader::Kind::get:
      return reply(header, rank);
    case CourierHeader::Kind::acknowledge:
      // The transfer waits for this; it is this rank's own pointer come back.
      reinterpret_cast<Transfer*>(header.transfer)->is_acknowledged = true;
  }
}

void Receiver::prepare(MemoryKind memory) {
  if (memory == MemoryKind::device && !device_copier_) device_copier_ = make_device_copier();
}

Copier& Receiver::copier_for(MemoryKind memory) {
  return memory == MemoryKind::host ? *host_copier_ : *device_copier_;
}

void Receiver::land(const CourierHeader& header, int rank) {
  const WindowState& window = windows_.find(header.window);
  window.require_inside(header.offset, header.bytes);
  std::byte* target = window.local.data + header.offset;
  if (header.is_inline != 0) {
    if (header.bytes > 0) std::memcpy(target, header.payload.data(), header.bytes);
    return finish_put(header, rank);
  }
  Answer& answer = answers_.emplace_back();
  answer.header = header;
  answer.rank = rank;
  answer.lands = true;
  check_mpi(MPI_Irecv(target, message_size(header.bytes), MPI_BYTE, rank, header.payload_tag, context_.comm(),
                      &answer.request),
            "MPI_Irecv");
}

void Receiver::finish_put(const CourierHeader& header, int rank) {
  const WindowState& window = windows_.find(header.window);
  // Publishes to this rank's kernels: the bytes that were put.
  if (header.arrival != NetworkOperation::no_arrival) {
    copier_for(window.memory).release(arrival_word(window.local.data, header.arrival), header.arrival_value);
  }
  Answer& answer = answers_.emplace_back();
  answer.header.kind = CourierHeader::Kind::acknowledge;
  answer.header.transfer = header.transfer;
  check_mpi(MPI_Isend(&answer.header, answer.header.message_bytes(), MPI_BYTE, rank, header_tag_,
                      context_.comm(), &answer.request),
            "MPI_Isend");
}

void Receiver::reply(const CourierHeader& header, int rank) {
  const WindowState& window = windows_.find(header.window);
  window.require_inside(header.offset, header.bytes);
  check_mpi(MPI_Isend(window.local.data + header.offset, message_size(header.bytes), MPI_BYTE, rank,
                      header.payload_tag, context_.comm(), &answers_.emplace_back().request),
            "MPI_Isend");
}

bool Receiver::advance_answers() {
  bool busy = false;
  for (auto answer = answers_.begin(); answer != answers_.end();) {
    int done = 0;
    check_mpi(MPI_Test(&answer->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) {
      ++answer;
      continue;
    }
    busy = true;
    if (answer->lands) finish_put(answer->header, answer->rank);
    answer = answers_.erase(answer);
  }
  return busy;
}

}  // namespace selvage::detail
