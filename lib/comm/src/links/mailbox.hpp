#pragma once

#include "transport.hpp"

#include <selvage/comm/detail/signal.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace selvage::detail {

/// What a rank says it is doing in an epoch; both ranks of a pair must be doing the same.
struct Operation {
  std::uint64_t fields = 0;
  std::uint64_t reverse = 0;
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// The two flags of one directed pair. They lie in the memory of the rank that polls them; its peer writes
/// them.
struct Flags {
  /// Released by the peer after its stores: what it puts for this epoch is in this rank's memory.
  Flag arrived;
  /// Released by the peer when it no longer reads what this rank put before: this epoch's put may begin.
  Flag credit;
  /// Written by the peer before it releases `arrived`. Indexed by the parity of the epoch, because the peer may be one epoch
  /// ahead, but not two.
  alignas(128) std::array<Operation, 2> operations{};
};

/// How many bytes one peer may put into each kind of landing block.
struct LandingBytes {
  std::int64_t ghosts = 0;         ///< packed ghosts, per epoch parity
  std::int64_t contributions = 0;  ///< of a reduction
};

/// Tells a peer where the things it writes to are.
struct MailboxCard {
  SharedRange range;
  std::uint64_t flags_offset = 0;
  std::array<std::uint64_t, 2> ghosts_offsets{};  ///< by epoch parity
  std::uint64_t contributions_offset = 0;
};

/// Zeroed memory of a plan that peers can map, and the name by which they do. It lies in GPU memory where the plan's kernels run
/// on a GPU, so that they poll local memory, and otherwise in shared host memory.
struct NamedBuffer {
  Buffer buffer;
  SharedRange range;
};
[[nodiscard]] NamedBuffer allocate_named(ContextState& context, const Executor& executor, std::size_t bytes);

/// The memory of this rank that peers write to, except the fields themselves: for each peer its flags, and landing blocks in which
/// bytes stay until this rank copies them to ghosts or adds them to its cells.
class Mailbox {
 public:
  /// \param landing_bytes  per peer
  Mailbox(const TransportParts& parts, const std::vector<LandingBytes>& landing_bytes);

  [[nodiscard]] const MailboxCard& card(std::size_t peer) const { return cards_[peer]; }
  /// Host memory only.
  [[nodiscard]] const Flags& flags(std::size_t peer) const {
    return *reinterpret_cast<const Flags*>(data_ + cards_[peer].flags_offset);
  }
  [[nodiscard]] const std::byte* ghosts(std::size_t peer, int parity) const {
    return data_ + cards_[peer].ghosts_offsets[parity];
  }
  [[nodiscard]] const std::byte* contributions(std::size_t peer) const {
    return data_ + cards_[peer].contributions_offset;
  }

 private:
  Buffer memory_;
  std::byte* data_ = nullptr;
  std::vector<MailboxCard> cards_;
};

}  // namespace selvage::detail
