#include "list_path.hpp"
#include "runtime/cancel_receive.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"
#include "runtime/message_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace selvage::detail {
namespace {

/// One message to or from each link's rank per operation, if any particles go that way.
class MpiLists final : public ListPath {
 public:
  MpiLists(ContextState& context, int tag, bool staged) : context_(context), tag_(tag), staged_(staged) {}
  /// Memory that MPI still uses after a timeout is never freed.
  ~MpiLists() override;

  void connect(std::span<ListLink* const> links, Executor&) override {
    for (ListLink* link : links) peers_.emplace_back().link = link;
  }
  void start(const ListStep& step) override;
  bool put(const ListStep& step) override;
  bool progress(const ListStep& step) override;
  void fail(const ListStep& step) override;
  [[nodiscard]] std::string describe_late(const ListStep& step) const override;

 private:
  struct Message {
    GrowingBuffer packed;  ///< GPU memory that MPI is given, where it takes that
    Buffer wire;           ///< otherwise: host memory, with a header
    std::int64_t wire_bytes = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Peer {
    ListLink* link = nullptr;
    Message out;
    Message in;
    bool awaits = false;     ///< a message of this operation
    int received_bytes = 0;  ///< its length
  };

  /// Whether MPI is given GPU memory, which the host can't read.
  [[nodiscard]] bool hides_bytes(const ListStep& step) const {
    return !step.executor.runs_on_host() && !staged_ && step.moves_particles();
  }
  [[nodiscard]] static bool has_message(const ListStep& step, const ListRange& range) {
    return !step.moves_particles() || range.count > 0;
  }
  [[nodiscard]] static ListHeader header_in(const Message& message) {
    ListHeader header;
    std::memcpy(&header, message.wire.data, sizeof header);
    return header;
  }
  void reserve(Message& message, const ListStep& step, std::int64_t bytes) const;
  [[nodiscard]] std::byte* wire_of(const Message& message, const ListStep& step) const {
    return hides_bytes(step) ? message.packed.as<std::byte>() : message.wire.data;
  }
  /// Where the particles lie packed.
  [[nodiscard]] std::byte* packed_in(const Message& message, const ListStep& step) const {
    return hides_bytes(step) ? message.packed.as<std::byte>() : message.wire.data + list_header_bytes;
  }
  [[nodiscard]] std::int64_t length_of(const ListStep& step, const ListRange& range) const {
    return step.bytes(range) + (hides_bytes(step) ? 0 : list_header_bytes);
  }
  void pack_all(const ListStep& step);
  void send(Peer& peer, const ListStep& step);
  bool receive(Peer& peer, const ListStep& step);
  [[nodiscard]] bool begin_receive(Peer& peer, const ListStep& step);
  void require_whole(const Peer& peer, const ListStep& step) const;

  ContextState& context_;
  int tag_;
  bool staged_;
  std::vector<Peer> peers_;
  std::vector<ListPart> parts_;
  bool is_packed_ = true;
};

MpiLists::~MpiLists() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  for (Peer& peer : peers_) {
    if (!cancel_receive(peer.in.request)) static_cast<void>(new Message(std::move(peer.in)));
    if (peer.out.request != MPI_REQUEST_NULL) static_cast<void>(new Message(std::move(peer.out)));
  }
}

void MpiLists::reserve(Message& message, const ListStep& step, std::int64_t bytes) const {
  if (hides_bytes(step)) {
    message.packed.reserve<std::byte>(std::max<std::int64_t>(bytes, 1), step.executor);
    return;
  }
  const std::int64_t wanted = std::max(bytes + list_header_bytes, least_list_message_bytes);
  if (wanted <= message.wire_bytes) return;
  message.wire_bytes = std::max(wanted, message.wire_bytes * 3 / 2);
  message.wire = step.executor.allocate_staging(message.wire_bytes);
}

void MpiLists::start(const ListStep& step) {
  // A GPU may still unpack what was received in the same blocks before.
  if (!step.executor.runs_on_host()) step.executor.fence();
  for (Peer& peer : peers_) peer.awaits = has_message(step, step.received(*peer.link));
  is_packed_ = false;
}

bool MpiLists::put(const ListStep& step) {
  if (is_packed_) return true;
  if (step.moves_particles()) pack_all(step);
  for (Peer& peer : peers_) {
    if (has_message(step, step.sent(*peer.link))) send(peer, step);
  }
  is_packed_ = true;
  return true;
}

void MpiLists::pack_all(const ListStep& step) {
  const ProfilingRegion region("comm::pack");
  parts_.clear();
  for (Peer& peer : peers_) {
    const ListRange& range = step.sent(*peer.link);
    if (range.count == 0) continue;
    reserve(peer.out, step, step.bytes(range));
    parts_.push_back({packed_in(peer.out, step), range.first, range.count});
  }
  if (!parts_.empty()) step.mover->pack(parts_);
  // MPI reads the blocks, and is not ordered with the instance.
  if (!step.executor.runs_on_host()) step.executor.fence();
}

void MpiLists::send(Peer& peer, const ListStep& step) {
  const ListRange& range = step.sent(*peer.link);
  if (!hides_bytes(step)) {
    reserve(peer.out, step, step.bytes(range));
    const ListHeader header = step.header(*peer.link);
    std::memcpy(peer.out.wire.data, &header, sizeof header);
  }
  check_mpi(MPI_Isend(wire_of(peer.out, step), message_size(length_of(step, range)), MPI_BYTE,
                      peer.link->rank, tag_, context_.comm(), &peer.out.request),
            "MPI_Isend");
}

bool MpiLists::progress(const ListStep& step) {
  bool done = true;
  for (Peer& peer : peers_) {
    if (peer.awaits) done = receive(peer, step) && done;
    if (peer.out.request != MPI_REQUEST_NULL) {
      int sent = 0;
      check_mpi(MPI_Test(&peer.out.request, &sent, MPI_STATUS_IGNORE), "MPI_Test");
      done = done && sent != 0;
    }
  }
  return done;
}

/// A message is received when its length is known. If a receive is posted beforehand and is too short, Open MPI 4.1 writes past its end
/// when it reads the sender's memory at once (CMA).
bool MpiLists::receive(Peer& peer, const ListStep& step) {
  if (peer.in.request == MPI_REQUEST_NULL && !begin_receive(peer, step)) return false;
  int completed = 0;
  check_mpi(MPI_Test(&peer.in.request, &completed, MPI_STATUS_IGNORE), "MPI_Test");
  if (completed == 0) return false;
  peer.awaits = false;
  require_whole(peer, step);
  ListRange range = step.received(*peer.link);
  if (!step.moves_particles()) range = {0, header_in(peer.in).entries};
  step.arrivals->push_back({peer.link, {packed_in(peer.in, step), range.first, range.count}});
  return true;
}

bool MpiLists::begin_receive(Peer& peer, const ListStep& step) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Improbe(peer.link->rank, tag_, context_.comm(), &found, &message, &status), "MPI_Improbe");
  if (found == 0) return false;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &peer.received_bytes), "MPI_Get_count");
  reserve(peer.in, step, std::max<std::int64_t>(peer.received_bytes, step.bytes(step.received(*peer.link))));
  check_mpi(MPI_Imrecv(wire_of(peer.in, step), peer.received_bytes, MPI_BYTE, &message, &peer.in.request),
            "MPI_Imrecv");
  return true;
}

void MpiLists::require_whole(const Peer& peer, const ListStep& step) const {
  if (!hides_bytes(step)) {
    ListFailure failure;
    std::memcpy(&failure, peer.in.wire.data + list_header_bytes, sizeof failure);
    step.require_same(*peer.link, header_in(peer.in), failure);
  }
  const std::int64_t wanted = length_of(step, step.received(*peer.link));
  if (!step.moves_particles() || peer.received_bytes == wanted) return;
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "ranks call one list differently: in epoch {} rank {} sent {} bytes, its neighbour expects {}",
          step.epoch, peer.link->rank, peer.received_bytes, wanted));
}

/// If MPI is given GPU memory, errors can't be sent; the other ranks time out.
void MpiLists::fail(const ListStep& step) {
  ListFailure failure{.kind = static_cast<std::int32_t>(step.failure->kind()), .text = {}};
  step.failure->message().copy(failure.text.data(), failure.text.size() - 1);
  const ListHeader header{.operation = ListOperation::failure};
  for (Peer& peer : peers_) {
    // The receiver takes no further message of this link, so nothing is waited for.
    auto* bytes = new std::array<std::byte, least_list_message_bytes>{};
    std::memcpy(bytes->data(), &header, sizeof header);
    std::memcpy(bytes->data() + list_header_bytes, &failure, sizeof failure);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(bytes->data(), least_list_message_bytes, MPI_BYTE, peer.link->rank, tag_,
                        context_.comm(), &request),
              "MPI_Isend");
    MPI_Request_free(&request);
  }
}

std::string MpiLists::describe_late(const ListStep& step) const {
  std::string late;
  const auto add = [&](int rank, std::string_view what) {
    late += fmt::format("{}rank {} (MPI, {} of epoch {} wanted)", late.empty() ? "" : ", ", rank, what,
                        step.epoch);
  };
  for (const Peer& peer : peers_) {
    if (peer.awaits) add(peer.link->rank, "message");
    if (peer.out.request != MPI_REQUEST_NULL) add(peer.link->rank, "acceptance");
  }
  return late;
}

}  // namespace

std::unique_ptr<ListPath> make_mpi_lists(ContextState& context, int tag, bool staged) {
  return std::make_unique<MpiLists>(context, tag, staged);
}

}  // namespace selvage::detail
