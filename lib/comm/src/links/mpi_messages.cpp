#include "mpi_messages.hpp"

#include "messages.hpp"
#include "proxy/proxy.hpp"
#include "runtime/cancel_receive.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"
#include "runtime/message_size.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace selvage::detail {
namespace {

bool all_done(const std::vector<MPI_Request>& requests) {
  return std::ranges::all_of(requests, [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
}

}  // namespace

MpiMessages::MpiMessages(const MessageParts& parts, std::vector<PackedPeer> peers)
    : comm_(parts.context.comm()),
      first_tag_(parts.first_tag),
      initiation_(parts.initiation),
      peers_(std::move(peers)) {
  const std::size_t most = peers_.size() * parts.fields;
  for (auto* list : {&sends_, &receives_}) list->reserve(most);
  send_ranks_.reserve(most);
  expected_.reserve(most);
  indices_.resize(most);
  statuses_.resize(most);
}

/// After a timeout, requests that can't be cancelled may still read or write their memory, which is then never freed.
MpiMessages::~MpiMessages() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  bool is_used = !all_done(sends_);
  for (MPI_Request& receive : receives_) is_used = !cancel_receive(receive) || is_used;
  if (is_used) static_cast<void>(new std::vector<PackedPeer>(std::move(peers_)));
}

template <class Function>
void MpiMessages::for_each_run(const Step& step, const PackedBlock& block, const Function& function) {
  std::size_t field = 0;
  while ((step.fields >> field) != 0) {
    const std::size_t first = field;
    std::int64_t bytes = 0;
    for (; field < max_fields && step.has(field); ++field) bytes += block.field_bytes(field);
    if (bytes > 0) function(static_cast<int>(first), block.field_begin(first), bytes);
    if (field >= max_fields) break;
    if (field == first) ++field;
  }
}

void MpiMessages::start(const Step& step) {
  sends_.clear();
  send_ranks_.clear();
  receives_.clear();
  expected_.clear();
  // A GPU may still unpack or add what the previous exchange has received in the same blocks.
  const bool asynchronous = !step.executor.runs_on_host();
  if (initiation_ == Initiation::host || asynchronous) step.executor.fence();
  post_receives(step);
  pack_and_send(step);
}

void MpiMessages::post_receives(const Step& step) {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const PackedBlock& block = peers_[i].incoming(step.reverse);
    for_each_run(step, block, [&](int first_field, std::int64_t begin, std::int64_t bytes) {
      expected_.push_back({i, begin, bytes});
      check_mpi(MPI_Irecv(block.packed.data + begin, message_size(bytes), MPI_BYTE, peers_[i].rank,
                          first_tag_ + first_field, comm_, &receives_.emplace_back(MPI_REQUEST_NULL)),
                "MPI_Irecv");
    });
  }
}

void MpiMessages::pack(const Step& step) {
  const ProfilingRegion region("comm::pack");
  for (const PackedPeer& peer : peers_) {
    const PackedBlock& block = peer.outgoing(step.reverse);
    for (std::size_t field = 0; field < block.pack.size(); ++field) {
      if (step.has(field)) block.pack[field]->enqueue(step.executor);
    }
  }
  // MPI reads the blocks, and is not ordered with the instance.
  if (!step.executor.runs_on_host()) step.executor.fence();
}

void MpiMessages::pack_and_send(const Step& step) {
  pack(step);
  for (const PackedPeer& peer : peers_) {
    const PackedBlock& block = peer.outgoing(step.reverse);
    for_each_run(step, block, [&](int first_field, std::int64_t begin, std::int64_t bytes) {
      send_ranks_.push_back(peer.rank);
      check_mpi(MPI_Isend(block.packed.data + begin, message_size(bytes), MPI_BYTE, peer.rank,
                          first_tag_ + first_field, comm_, &sends_.emplace_back(MPI_REQUEST_NULL)),
                "MPI_Isend");
    });
  }
}

bool MpiMessages::progress(const Step& step) {
  if (!all_done(receives_)) receive_some(step);
  int sent = 1;
  if (!all_done(sends_)) {
    check_mpi(MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &sent, MPI_STATUSES_IGNORE),
              "MPI_Testall");
  }
  const bool done = sent != 0 && all_done(receives_);
  if (done) completed_epoch_ = step.epoch;
  return done;
}

void MpiMessages::receive_some(const Step& step) {
  int completed = 0;
  const int code = MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &completed,
                                indices_.data(), statuses_.data());
  if (code != MPI_ERR_IN_STATUS) check_mpi(code, "MPI_Testsome");
  for (int i = 0; i < completed; ++i) {
    const Message& message = expected_[indices_[i]];
    require_whole(step, message, statuses_[i], code == MPI_ERR_IN_STATUS);
    deliver(step, message);
  }
}

/// A message of an unexpected length shows that ranks exchange different Views, or in different directions.
void MpiMessages::require_whole(const Step& step, const Message& message, const MPI_Status& status,
                                bool failed) const {
  int error_class = MPI_SUCCESS;
  if (failed) check_mpi(MPI_Error_class(status.MPI_ERROR, &error_class), "MPI_Error_class");
  const bool too_long = error_class == MPI_ERR_TRUNCATE;
  if (failed && !too_long) check_mpi(status.MPI_ERROR, "MPI_Irecv");
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  if (!too_long && bytes == message.bytes) return;
  throw Error(ErrorKind::usage,
              fmt::format("ranks call one HaloExchange differently: in epoch {} rank {} sent {}, this rank "
                          "expects {} bytes",
                          step.epoch, peers_[message.peer].rank,
                          too_long ? "more" : fmt::format("{} bytes", bytes), message.bytes));
}

void MpiMessages::deliver(const Step& step, const Message& message) {
  const PackedBlock& block = peers_[message.peer].incoming(step.reverse);
  if (step.reverse) return;
  const ProfilingRegion region("comm::unpack");
  for (std::size_t field = 0; field < block.unpack.size(); ++field) {
    const std::int64_t begin = block.field_begin(field);
    const bool in_message = begin >= message.begin && begin < message.begin + message.bytes;
    if (step.has(field) && in_message) block.unpack[field]->enqueue(step.executor);
  }
}

void MpiMessages::append_contributions(std::size_t field, std::vector<Contribution>& contributions) const {
  for (const PackedPeer& peer : peers_) {
    contributions.insert(contributions.end(), peer.contributions[field].begin(),
                         peer.contributions[field].end());
  }
}

std::string MpiMessages::describe_late(const Step& step) const {
  std::string late;
  const auto add = [&](int rank, std::string_view what) {
    late += fmt::format("{}rank {} (MPI, {} of epoch {} wanted, {} seen)", late.empty() ? "" : ", ", rank,
                        what, step.epoch, completed_epoch_);
  };
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    if (receives_[i] != MPI_REQUEST_NULL) add(peers_[expected_[i].peer].rank, "message");
  }
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    if (sends_[i] != MPI_REQUEST_NULL) add(send_ranks_[i], "acceptance");
  }
  return late;
}

std::string refuse_mpi_initiation(Initiation initiation, const PairFacts& facts, bool on_host) {
  if (initiation == Initiation::host || on_host) return {};
  if (is_started_by_proxy(initiation)) return Proxy::refusal(facts.threads_refusal, on_host);
  return "MPI can only be called from the host, after a fence";
}

}  // namespace selvage::detail
