#include "links/device_peer.hpp"

#include "fault.hpp"
#include "gpu/cuda/device_memory.hpp"
#include "links/peer_link.hpp"
#include "peer_kernels.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace selvage::detail {
namespace {

/// Bytes per block of threads. A face of 8 KB uses one block; a large face uses enough blocks to saturate the links.
constexpr std::int64_t chunk_bytes = 8 * 1024;

bool is_aligned(const CopyBox& box, std::int64_t bytes) {
  std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(box.source) | reinterpret_cast<std::uintptr_t>(box.target);
  for (int axis = 0; axis < 3; ++axis) {
    if (box.extents[axis] == 1) continue;
    bits |= static_cast<std::uintptr_t>(box.source_strides[axis] | box.target_strides[axis]);
  }
  return bits % static_cast<std::uintptr_t>(bytes) == 0;
}

/// Contiguous rows as elements of up to 16 bytes, as far as addresses and strides allow.
CopyBox vectorized(CopyBox box) {
  if (!box.rows_are_contiguous()) return box;
  const std::int64_t row_bytes = box.extents[3] * box.element_bytes;
  for (const std::int64_t wide : {16, 8, 4, 2}) {
    if (wide <= box.element_bytes || row_bytes % wide != 0 || !is_aligned(box, wide)) continue;
    box.extents[3] = row_bytes / wide;
    box.source_strides[3] = wide;
    box.target_strides[3] = wide;
    box.element_bytes = wide;
    break;
  }
  return box;
}

/// \param box  for epochs of parity 0
/// \param odd  the same copy for parity 1
DeviceCopy device_copy(const CopyBox& box, const CopyBox& odd) {
  DeviceCopy copy{};
  copy.source[0] = box.source;
  copy.source[1] = odd.source;
  copy.target[0] = box.target;
  copy.target[1] = odd.target;
  for (int axis = 0; axis < 4; ++axis) {
    copy.extents[axis] = static_cast<std::uint32_t>(box.extents[axis]);
    copy.source_strides[axis] = box.source_strides[axis];
    copy.target_strides[axis] = box.target_strides[axis];
  }
  copy.word_bytes = word_bytes(box);
  copy.words = static_cast<int>(box.element_bytes / copy.word_bytes);
  return copy;
}

/// The arrays behind one PeerProgram.
struct ProgramMemory {
  std::vector<DeviceCopy> copies;
  std::vector<Chunk> chunks;
  DeviceArray<DeviceCopy> device_copies;
  DeviceArray<Chunk> device_chunks;

  void add(const CopyBox& even, const CopyBox& odd, std::uint32_t peer) {
    const CopyBox box = vectorized(even);
    const std::int64_t elements = box.elements();
    if (elements > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("a halo region of {} elements in GPU memory", elements));
    }
    const std::int64_t per_chunk = std::max<std::int64_t>(1, chunk_bytes / box.element_bytes);
    for (std::int64_t first = 0; first < elements; first += per_chunk) {
      chunks.push_back({static_cast<std::uint32_t>(copies.size()), static_cast<std::uint32_t>(first),
                        static_cast<std::uint32_t>(std::min(per_chunk, elements - first)), peer});
    }
    copies.push_back(device_copy(box, odd));
  }

  void upload() {
    device_copies = DeviceArray<DeviceCopy>(copies);
    device_chunks = DeviceArray<Chunk>(chunks);
  }
};

/// The launches of an operation.
struct Launches {
  ProgramMemory put_memory;
  ProgramMemory wait_memory;
  DeviceArray<DevicePeer> peers;
  PeerProgram put{};
  PeerProgram wait{};
  bool fits_one_launch = false;
};

class DevicePeerTransport final : public Link {
 public:
  explicit DevicePeerTransport(const TransportParts& parts)
      : context_(parts.context),
        initiation_(parts.initiation),
        mailbox_(parts, landing_bytes(parts)),
        links_(connect(parts, mailbox_,
                       {.direct_run_bytes = direct_run_bytes_on_device,
                        .scattered_bytes = scattered_bytes_on_shared_device})),
        state_(std::vector<DeviceState>(1)) {
    const std::size_t fields = parts.fields.size();
    for (std::size_t f = 0; f < fields; ++f) prepare(std::uint64_t{1} << f);
    if (fields > 1) prepare(fields == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << fields) - 1);
  }

  void unmap() noexcept override {
    launches_.clear();
    links_.clear();
  }

  void start(const Step& step) override {
    check();
    if (initiation_ == Initiation::host) step.executor.fence();
    const auto stream = static_cast<cudaStream_t>(step.executor.stream());
    const bool guarded = step.guarded || is_first_of_capture(stream);
    const Launches& launches = launches_for(step.fields, step.reverse, guarded);
    if (step.at_once && initiation_ != Initiation::host && launches.fits_one_launch) {
      const ProfilingRegion region("comm::exchange");
      launch_exchange(launches.put, launches.wait, stream);
      return;
    }
    in_flight_ = &launches;
    {
      const ProfilingRegion region("comm::put");
      launch_put(launches.put, stream);
    }
    if (initiation_ == Initiation::host) step.executor.fence();
  }

  bool progress(const Step& step) override {
    if (in_flight_ == nullptr) return true;
    {
      const ProfilingRegion region("comm::wait");
      launch_wait(in_flight_->wait, static_cast<cudaStream_t>(step.executor.stream()));
    }
    in_flight_ = nullptr;
    if (initiation_ == Initiation::host) {
      step.executor.fence();
      check();
    }
    return true;
  }

  void prepare_capture(std::uint64_t fields) override {
    if (initiation_ == Initiation::host) return Link::prepare_capture(fields);
    launches_for(fields, false, true);
  }

  void append_contributions(std::size_t field, std::vector<Contribution>& contributions) const override {
    for (const PeerLink& link : links_) {
      contributions.insert(contributions.end(), link.contributions[field].begin(),
                           link.contributions[field].end());
    }
  }

  void check() const override { throw_if_failed(*fault_.get(), context_.timeout(), "peer"); }

  [[nodiscard]] std::string describe_late(const Step&) const override { return {}; }

 private:
  using Key = std::tuple<std::uint64_t, bool, bool>;  // fields, reverse, guarded

  void prepare(std::uint64_t fields) {
    for (const bool guarded : {false, true}) launches_for(fields, false, guarded);
    launches_for(fields, true, true);
  }

  Launches& launches_for(std::uint64_t fields, bool reverse, bool guarded) {
    const Key key{fields, reverse, guarded};
    const auto found = launches_.find(key);
    if (found != launches_.end()) return found->second;
    return launches_.emplace(key, build(fields, reverse, guarded)).first->second;
  }

  Launches build(std::uint64_t fields, bool reverse, bool guarded) {
    Launches launches;
    std::vector<DevicePeer> peers;
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
      const PeerLink& link = links_[i];
      const std::size_t blocks_before = launches.put_memory.chunks.size();
      add_puts(launches.put_memory, link, fields, reverse, i);
      const std::size_t waits_before = launches.wait_memory.chunks.size();
      if (!reverse) add_unpacks(launches.wait_memory, link, fields, i);
      if (link.receives(reverse) && launches.wait_memory.chunks.size() == waits_before) {
        launches.wait_memory.chunks.push_back({0, 0, 0, i});
      }
      peers.push_back({.remote = link.remote_flags,
                       .own = const_cast<Flags*>(&mailbox_.flags(i)),
                       .rank = link.rank,
                       .awaits_credit = link.awaits_credit(reverse, guarded),
                       .gives_credit = link.gives_credit(reverse, guarded),
                       .blocks = launches.put_memory.chunks.size() - blocks_before,
                       .blocks_done = 0});
    }
    launches.peers = DeviceArray<DevicePeer>(peers);
    launches.put = program(launches.put_memory, launches.peers, peers.size(), operation_of(fields, reverse));
    launches.wait =
        program(launches.wait_memory, launches.peers, peers.size(), operation_of(fields, reverse));
    launches.fits_one_launch = exchange_blocks(launches.put, launches.wait) <= most_blocks_;
    return launches;
  }

  static void add_puts(ProgramMemory& memory, const PeerLink& link, std::uint64_t fields, bool reverse,
                       std::uint32_t peer) {
    for (std::size_t f = 0; f < link.reverse_puts.size(); ++f) {
      if ((fields >> f & 1) == 0) continue;
      const auto& even = reverse ? link.reverse_puts[f] : link.routes.puts[0][f];
      const auto& odd = reverse ? link.reverse_puts[f] : link.routes.puts[1][f];
      for (std::size_t box = 0; box < even.size(); ++box) memory.add(even[box], odd[box], peer);
    }
  }

  static void add_unpacks(ProgramMemory& memory, const PeerLink& link, std::uint64_t fields,
                          std::uint32_t peer) {
    for (std::size_t f = 0; f < link.routes.unpacks[0].size(); ++f) {
      if ((fields >> f & 1) == 0) continue;
      const auto& even = link.routes.unpacks[0][f];
      const auto& odd = link.routes.unpacks[1][f];
      for (std::size_t box = 0; box < even.size(); ++box) memory.add(even[box], odd[box], peer);
    }
  }

  PeerProgram program(ProgramMemory& memory, const DeviceArray<DevicePeer>& peers, std::size_t peer_count,
                      const Operation& operation) const {
    memory.upload();
    const auto timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(context_.timeout());
    return {.chunks = memory.device_chunks.data(),
            .copies = memory.device_copies.data(),
            .peers = peers.data(),
            .chunk_count = static_cast<std::uint32_t>(memory.chunks.size()),
            .peer_count = static_cast<std::uint32_t>(peer_count),
            .state = state_.data(),
            .fault = fault_.get(),
            .operation = operation,
            .timeout_ns = static_cast<std::uint64_t>(timeout.count())};
  }

  /// Which exchange precedes the first one of a replayed graph is not known, so the first one waits for credits.
  bool is_first_of_capture(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long capture = 0;
    check_cuda(cudaStreamGetCaptureInfo(stream, &status, &capture), "cudaStreamGetCaptureInfo");
    if (status != cudaStreamCaptureStatusActive) capture = 0;
    const bool is_first = capture != 0 && capture != capture_;
    capture_ = capture;
    return is_first;
  }

  ContextState& context_;
  Initiation initiation_;
  Mailbox mailbox_;
  std::vector<PeerLink> links_;
  DeviceArray<DeviceState> state_;
  PinnedValue<PeerFault> fault_;
  std::map<Key, Launches> launches_;
  const Launches* in_flight_ = nullptr;  ///< what has been put and is still to be waited for
  std::uint32_t most_blocks_ = most_exchange_blocks();
  unsigned long long capture_ = 0;
};

}  // namespace

std::unique_ptr<Link> make_device_peer_transport(TransportParts parts) {
  return std::make_unique<DevicePeerTransport>(parts);
}

}  // namespace selvage::detail
