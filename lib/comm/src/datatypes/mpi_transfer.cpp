#include "layouts/run_copy.hpp"
#include "runtime/cancel_receive.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"
#include "runtime/message_size.hpp"
#include "transfer_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace selvage::detail {
namespace {

constexpr std::int64_t part_alignment = 16;

/// The parts of one direction in one packed block, and the copies that pack or unpack it.
struct Block {
  int bytes = 0;
  Buffer packed;
  Buffer wire;
  std::unique_ptr<RunCopy> copy;
  MPI_Request request = MPI_REQUEST_NULL;
};

Block make_block(const Executor& executor, const std::vector<TransferPart>& parts, bool outgoing,
                 bool staged) {
  std::vector<std::int64_t> begins{0};
  for (const TransferPart& part : parts)
    begins.push_back((begins.back() + part.bytes + part_alignment - 1) / part_alignment * part_alignment);
  Block block;
  block.bytes = message_size(begins.back());
  block.packed = executor.allocate(begins.back());
  block.wire = staged ? executor.allocate_staging(begins.back()) : block.packed;
  std::vector<CopyRun> placed;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::byte* data = parts[i].memory.data;
    const std::byte* packed = block.packed.data + begins[i];
    if (outgoing) {
      append_placed(placed, parts[i].layout.runs, data, packed);
    } else {
      append_placed(placed, reversed(parts[i].layout.runs), packed, data);
    }
  }
  block.copy = make_run_copy(executor, placed);
  return block;
}

class MpiTransfer final : public TransferPath {
 public:
  MpiTransfer(const TransferParts& parts, bool staged)
      : comm_(parts.context.comm()), tag_(parts.tag), staged_(staged && !parts.executor.runs_on_host()) {
    for (const Partner& partner : parts.partners) {
      peers_.push_back({partner.rank, make_block(parts.executor, partner.sends, true, staged_),
                        make_block(parts.executor, partner.receives, false, staged_)});
    }
  }

  /// What MPI still reads or writes after a timeout stays.
  ~MpiTransfer() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized) return;
    for (Peer& peer : peers_) {
      if (!cancel_receive(peer.in.request)) static_cast<void>(new Block(std::move(peer.in)));
      if (peer.out.request != MPI_REQUEST_NULL) static_cast<void>(new Block(std::move(peer.out)));
    }
  }

  void start(const TransferStep& step) override {
    // A device may still unpack what the previous transfer received into the same block.
    if (!step.executor.runs_on_host()) step.executor.fence();
    for (Peer& peer : peers_) {
      if (peer.in.bytes == 0) continue;
      check_mpi(
          MPI_Irecv(peer.in.wire.data, peer.in.bytes, MPI_BYTE, peer.rank, tag_, comm_, &peer.in.request),
          "MPI_Irecv");
    }
    pack(step);
    for (Peer& peer : peers_) {
      if (peer.out.bytes == 0) continue;
      check_mpi(
          MPI_Isend(peer.out.wire.data, peer.out.bytes, MPI_BYTE, peer.rank, tag_, comm_, &peer.out.request),
          "MPI_Isend");
    }
  }

  bool progress(const TransferStep& step) override {
    bool done = true;
    for (Peer& peer : peers_) {
      if (is_completed_now(peer.in.request)) unpack(step, peer.in);
      is_completed_now(peer.out.request);
      done = done && peer.in.request == MPI_REQUEST_NULL && peer.out.request == MPI_REQUEST_NULL;
    }
    return done;
  }

  [[nodiscard]] std::string describe_late(const TransferStep& step) const override {
    std::string late;
    const auto add = [&](int rank, std::string_view what) {
      late += fmt::format("{}rank {} (MPI, {} of epoch {} wanted, {} seen)", late.empty() ? "" : ", ", rank,
                          what, step.epoch, step.epoch - 1);
    };
    for (const Peer& peer : peers_) {
      if (peer.in.request != MPI_REQUEST_NULL) add(peer.rank, "message");
      if (peer.out.request != MPI_REQUEST_NULL) add(peer.rank, "acceptance");
    }
    return late;
  }

 private:
  struct Peer {
    int rank;
    Block out;
    Block in;
  };

  static bool is_completed_now(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return false;
    int completed = 0;
    check_mpi(MPI_Test(&request, &completed, MPI_STATUS_IGNORE), "MPI_Test");
    return completed != 0;
  }

  void pack(const TransferStep& step) const {
    const ProfilingRegion region("comm::pack");
    for (const Peer& peer : peers_) {
      peer.out.copy->enqueue(step.executor);
      if (staged_) step.executor.stage_out(peer.out.wire.data, peer.out.packed.data, peer.out.bytes);
    }
    // MPI reads the blocks outside the instance's order.
    if (!step.executor.runs_on_host()) step.executor.fence();
  }
  void unpack(const TransferStep& step, const Block& block) const {
    const ProfilingRegion region("comm::unpack");
    if (staged_) step.executor.stage_in(block.packed.data, block.wire.data, block.bytes);
    block.copy->enqueue(step.executor);
  }

  MPI_Comm comm_;
  int tag_;
  bool staged_;
  std::vector<Peer> peers_;
};

}  // namespace

std::unique_ptr<TransferPath> make_mpi_transfer(const TransferParts& parts, bool staged) {
  return std::make_unique<MpiTransfer>(parts, staged);
}

}  // namespace selvage::detail
