#include "links/copy_engine.hpp"

#include "copy_engine_kernels.hpp"
#include "fault.hpp"
#include "gpu/cuda/device_memory.hpp"
#include "links/peer_link.hpp"
#include "proxy/copies/engine_copy.hpp"
#include "proxy/cuda/engine_stream.hpp"
#include "runtime/context_state.hpp"
#include "runtime/kokkos_runtime.hpp"

namespace selvage::detail {
namespace {

/// The copies of one field to all neighbours: kernels pack sparse regions, then copy engines copy.
struct FieldCopies {
  std::vector<CopyBox> packs;
  std::vector<EngineCopy> copies;
};

/// The launches for one direction of exchange. The operation is set for each exchange.
struct Direction {
  std::vector<FieldCopies> sent;              ///< by field
  std::vector<std::vector<CopyBox>> unpacks;  ///< by field
  DeviceArray<DevicePeer> peers;
  DeviceArray<Chunk> chunks;
  PeerProgram program{};
};

class CopyEngineTransport final : public Link {
 public:
  explicit CopyEngineTransport(const TransportParts& parts)
      : context_(parts.context),
        initiation_(parts.initiation),
        mailbox_(parts, landing_bytes(parts)),
        links_(connect(parts, mailbox_, {.direct_run_bytes = direct_run_bytes_of_copy_engine})),
        state_(std::vector<DeviceState>(1)) {
    allocate_packed(parts);
    for (const bool reverse : {false, true}) prepare(reverse, parts.fields.size());
  }

  void unmap() noexcept override { links_.clear(); }

  void start(const Step& step) override {
    check();
    if (initiation_ == Initiation::host) step.executor.fence();
    Direction& direction = directions_[step.reverse ? 1 : 0];
    direction.program.operation = operation_of(step.fields, step.reverse);
    const auto stream = static_cast<cudaStream_t>(step.executor.stream());
    {
      const ProfilingRegion region("comm::put");
      launch_open(direction.program, stream);
      for (std::size_t field = 0; field < direction.sent.size(); ++field) {
        if (!step.has(field)) continue;
        step.executor.copy(direction.sent[field].packs);
        for (const EngineCopy& copy : direction.sent[field].copies) enqueue(copy, stream);
      }
      launch_publish(direction.program, stream);
    }
    if (initiation_ == Initiation::host) step.executor.fence();
    in_flight_ = &direction;
  }

  bool progress(const Step& step) override {
    if (in_flight_ == nullptr) return true;
    {
      const ProfilingRegion region("comm::wait");
      launch_wait(in_flight_->program, static_cast<cudaStream_t>(step.executor.stream()));
      for (std::size_t field = 0; field < in_flight_->unpacks.size(); ++field) {
        if (step.has(field)) step.executor.copy(in_flight_->unpacks[field]);
      }
    }
    in_flight_ = nullptr;
    if (initiation_ == Initiation::host) {
      step.executor.fence();
      check();
    }
    return true;
  }

  void prepare_capture(std::uint64_t fields) override {
    if (initiation_ == Initiation::host) Link::prepare_capture(fields);
  }

  void append_contributions(std::size_t field, std::vector<Contribution>& contributions) const override {
    for (const PeerLink& link : links_) {
      contributions.insert(contributions.end(), link.contributions[field].begin(),
                           link.contributions[field].end());
    }
  }

  void check() const override { throw_if_failed(*fault_.get(), context_.timeout(), "copy_engine"); }

  [[nodiscard]] std::string describe_late(const Step&) const override { return {}; }

 private:
  /// The boxes of one field for a neighbour. They are the same for even and odd epochs, since there is one landing block.
  static const std::vector<CopyBox>& sent_boxes(const PeerLink& link, bool reverse, std::size_t field) {
    return reverse ? link.reverse_puts[field] : link.routes.puts[0][field];
  }

  static bool is_packed(const CopyBox& box) {
    const std::int64_t run_bytes =
        box.rows_are_contiguous() ? box.extents[3] * box.element_bytes : box.element_bytes;
    return run_bytes < direct_run_bytes_of_copy_engine && box.elements() > 1 && fills_a_block(box);
  }

  static std::int64_t packed_slot_bytes(const CopyBox& box) {
    return (box.bytes() + Packing::field_alignment - 1) / Packing::field_alignment * Packing::field_alignment;
  }

  /// Forward and reverse exchanges of a plan use the same block, one after the other.
  void allocate_packed(const TransportParts& parts) {
    std::int64_t most_bytes = 0;
    for (const bool reverse : {false, true}) {
      std::int64_t bytes = 0;
      for (const PeerLink& link : links_) {
        for (std::size_t f = 0; f < parts.fields.size(); ++f) {
          for (const CopyBox& box : sent_boxes(link, reverse, f))
            bytes += is_packed(box) ? packed_slot_bytes(box) : 0;
        }
      }
      most_bytes = std::max(most_bytes, bytes);
    }
    packed_ = parts.executor.allocate(most_bytes);
  }

  void prepare(bool reverse, std::size_t fields) {
    Direction& direction = directions_[reverse ? 1 : 0];
    direction.sent.resize(fields);
    direction.unpacks.resize(fields);
    std::byte* packed = packed_.data;
    for (std::size_t f = 0; f < fields; ++f) {
      for (const PeerLink& link : links_) {
        for (const CopyBox& box : sent_boxes(link, reverse, f)) packed = add(box, packed, direction.sent[f]);
        const std::vector<CopyBox>& unpacks = link.routes.unpacks[0][f];
        if (!reverse) direction.unpacks[f].insert(direction.unpacks[f].end(), unpacks.begin(), unpacks.end());
      }
    }
    make_program(direction, reverse);
  }

  /// \return the offset of the next packed region
  static std::byte* add(const CopyBox& box, std::byte* packed, FieldCopies& sent) {
    if (!is_packed(box)) {
      append_engine_copies(box, sent.copies);
      return packed;
    }
    CopyBox pack = box;
    pack.target = packed;
    sent.packs.push_back(pack);
    append_engine_copies({.source = packed,
                          .target = box.target,
                          .extents = {1, 1, 1, box.bytes()},
                          .source_strides = {0, 0, 0, 1},
                          .target_strides = {0, 0, 0, 1},
                          .element_bytes = 1},
                         sent.copies);
    return packed + packed_slot_bytes(box);
  }

  void make_program(Direction& direction, bool reverse) const {
    std::vector<DevicePeer> peers;
    std::vector<Chunk> chunks;
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
      const PeerLink& link = links_[i];
      if (link.receives(reverse)) chunks.push_back({0, 0, 0, i});
      peers.push_back({.remote = link.remote_flags,
                       .own = const_cast<Flags*>(&mailbox_.flags(i)),
                       .rank = link.rank,
                       .awaits_credit = link.sends(reverse),
                       .gives_credit = link.receives(reverse),
                       .blocks = link.sends(reverse) ? 1U : 0U,
                       .blocks_done = 0});
    }
    direction.peers = DeviceArray<DevicePeer>(peers);
    direction.chunks = DeviceArray<Chunk>(chunks);
    const auto timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(context_.timeout());
    direction.program = {.chunks = direction.chunks.data(),
                         .copies = nullptr,
                         .peers = direction.peers.data(),
                         .chunk_count = static_cast<std::uint32_t>(chunks.size()),
                         .peer_count = static_cast<std::uint32_t>(peers.size()),
                         .state = state_.data(),
                         .fault = fault_.get(),
                         .operation = {},
                         .timeout_ns = static_cast<std::uint64_t>(timeout.count())};
  }

  ContextState& context_;
  Initiation initiation_;
  Mailbox mailbox_;
  std::vector<PeerLink> links_;
  Buffer packed_;
  DeviceArray<DeviceState> state_;
  PinnedValue<PeerFault> fault_;
  std::array<Direction, 2> directions_;  ///< forward, reverse
  Direction* in_flight_ = nullptr;
};

}  // namespace

std::unique_ptr<Link> make_copy_engine_transport(TransportParts parts) {
  return std::make_unique<CopyEngineTransport>(parts);
}

}  // namespace selvage::detail
