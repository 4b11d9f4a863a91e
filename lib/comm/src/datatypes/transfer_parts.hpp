#pragma once

#include "layouts/copy_runs.hpp"
#include "layouts/layout_cache.hpp"
#include "links/link.hpp"
#include "links/mailbox.hpp"
#include "links/packed_block.hpp"
#include "links/path_selector.hpp"
#include "memory/arena.hpp"

#include <selvage/comm/datatype.hpp>
#include <selvage/comm/detail/executor.hpp>
#include <selvage/comm/detail/field.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// A TypedTransfer::End of this rank, with its datatype flattened.
struct TransferPart {
  Field memory;
  FlatLayout layout;
  std::int64_t bytes = 0;
  TypeSignature signature;
};

/// Describes one TypedTransfer::End to the partner. Sent once, in a message, when a plan is made.
struct PartCard {
  SharedRange memory;
  std::int32_t is_shared = 0;
  MemoryKind kind = MemoryKind::host;
  SharedRange layout;  ///< of the flattened runs, in memory that ranks of the host map
  std::int32_t layout_is_shared = 0;
  std::uint64_t runs = 0;
  std::int64_t blocks = 0;  ///< of elements that follow each other; a run has several
  std::int64_t bytes = 0;
  TypeSignature signature;
  std::array<char, 64> label{};
};

/// Another rank, and all ends of transfers between it and this rank.
struct Partner {
  int rank = 0;
  std::vector<TransferPart> sends;
  std::vector<TransferPart> receives;
  std::vector<PartCard> their_sends;     ///< beside `receives`
  std::vector<PartCard> their_receives;  ///< beside `sends`
  const Flags* own_flags = nullptr;      ///< in this rank's memory; the partner writes them
  SharedRange remote_flags;              ///< in the partner's; this rank writes them
};

/// Arguments for links of typed transfers.
struct TransferParts {
  ContextState& context;
  const Executor& executor;
  std::vector<Partner> partners;  ///< those it is to serve
  Initiation initiation;
  int tag;
  std::size_t ring_unit_bytes = 0;  ///< of rings into this rank; 0: by where the Views lie
};

/// A partner's memory and flags as this rank maps them, and the copies that write to that memory.
struct PeerPut {
  int rank = 0;
  bool sends = false;
  bool receives = false;
  const Flags* own_flags = nullptr;
  Flags* remote_flags = nullptr;
  std::vector<CopyRun> placed;  ///< own elements straight to the partner's
  std::vector<std::shared_ptr<void>> mappings;
};
/// Maps the memory that a partner has described, reads its layouts from the host's cache and intersects them with this rank's layouts.
[[nodiscard]] PeerPut make_peer_put(ContextState& context, const Partner& partner);

/// Zero copy between ranks of one host. Elements that are still read are not overwritten, because the receiver's start() releases a
/// credit for the epoch and the sender's put waits for it.
[[nodiscard]] std::unique_ptr<Link> make_peer_transfer(const TransferParts& parts);

/// Packed messages, one per partner and direction.
[[nodiscard]] std::unique_ptr<Link> make_packed_transfer(const TransferParts& parts, Wire carrier);

/// A ring of units in host memory. Units are packed and unpacked by the CPU, or copied by copy engines to and from packed blocks in
/// GPU memory, one while others are underway. Collective between partners. Units that are still read are not overwritten, because the
/// sender waits for the receiver's count of freed units.
[[nodiscard]] std::unique_ptr<Link> make_ring_transfer(const TransferParts& parts);
[[nodiscard]] std::string refuse_ring(const PairFacts& facts);

}  // namespace selvage::detail
