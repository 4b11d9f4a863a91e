#include "datatypes/device_transfer.hpp"

#include "gpu/cuda/device_memory.hpp"
#include "layouts/cuda/run_table.hpp"
#include "links/peer_link.hpp"
#include "put_kernels.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace selvage::detail {
namespace {

class DevicePeerTransfer final : public Link {
 public:
  explicit DevicePeerTransfer(const TransferParts& parts)
      : context_(parts.context), state_(std::vector<DeviceState>(1)) {
    std::vector<DevicePeer> peers;
    std::vector<Chunk> waits;
    for (std::uint32_t i = 0; i < parts.partners.size(); ++i) {
      puts_.push_back(make_peer_put(parts.context, parts.partners[i]));
      PeerPut& put = puts_.back();
      std::uint64_t blocks = table_.add(std::exchange(put.placed, {}), i);
      if (put.sends && blocks == 0) {
        table_.add_empty(i);
        blocks = 1;
      }
      if (put.receives) waits.push_back({0, 0, 0, i});
      peers.push_back({.remote = put.remote_flags,
                       .own = const_cast<Flags*>(put.own_flags),
                       .rank = put.rank,
                       .awaits_credit = put.sends,
                       .gives_credit = put.receives,
                       .blocks = blocks,
                       .blocks_done = 0});
    }
    peers_ = DeviceArray<DevicePeer>(peers);
    waits_ = DeviceArray<Chunk>(waits);
    put_ = {.copies = table_.upload(), .signals = signals(peers.size(), 0)};
    wait_ = signals(peers.size(), waits.size());
  }

  void start(const Step& step) override {
    check();
    {
      const ProfilingRegion region("comm::put");
      launch_put_runs(put_, static_cast<cudaStream_t>(step.executor.stream()));
    }
    waits_for_launch_ = true;
  }

  bool progress(const Step& step) override {
    if (waits_for_launch_) launch_wait(wait_, static_cast<cudaStream_t>(step.executor.stream()));
    waits_for_launch_ = false;
    return true;
  }

  void check() const override {
    Fault& fault = *fault_.get();
    // Acquires what the kernel wrote before it released `kind`.
    const auto kind = acquire_word(fault.kind);
    if (kind == Fault::none) return;
    throw Error(
        ErrorKind::timeout,
        fmt::format(
            "a typed transfer on the GPU waited {} ms for rank {} (peer, {} epoch {} wanted, {} seen)",
            context_.timeout().count(), fault.rank, kind == Fault::credit_late ? "credit" : "arrival",
            fault.wanted, fault.seen));
  }

  void unmap() noexcept override {
    for (PeerPut& put : puts_) put.mappings.clear();
  }

  [[nodiscard]] std::string describe_late(const Step&) const override { return {}; }

 private:
  [[nodiscard]] PeerProgram signals(std::size_t peers, std::size_t waits) const {
    const auto timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(context_.timeout());
    return {.chunks = waits_.data(),
            .copies = nullptr,
            .peers = peers_.data(),
            .chunk_count = static_cast<std::uint32_t>(waits),
            .peer_count = static_cast<std::uint32_t>(peers),
            .state = state_.data(),
            .fault = fault_.get(),
            .operation = operation_of(1, false),
            .timeout_ns = static_cast<std::uint64_t>(timeout.count())};
  }

  ContextState& context_;
  std::vector<PeerPut> puts_;
  RunTable table_;
  DeviceArray<DevicePeer> peers_;
  DeviceArray<Chunk> waits_;
  DeviceArray<DeviceState> state_;
  PinnedValue<PeerFault> fault_;
  PutProgram put_{};
  PeerProgram wait_{};
  bool waits_for_launch_ = false;
};

}  // namespace

std::unique_ptr<Link> make_device_peer_transfer(const TransferParts& parts) {
  return std::make_unique<DevicePeerTransfer>(parts);
}

}  // namespace selvage::detail
