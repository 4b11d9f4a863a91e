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

/// One of this rank's ends, flattened.
struct TransferPart {
  Field memory;
  FlatLayout layout;
  std::int64_t bytes = 0;
  TypeSignature signature;
};

/// What one rank tells another of one of its ends, once, when a plan is made. Travels in a message.
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

/// Another rank, and everything that goes between it and this one.
struct Partner {
  int rank = 0;
  std::vector<TransferPart> sends;
  std::vector<TransferPart> receives;
  std::vector<PartCard> their_sends;     ///< beside `receives`
  std::vector<PartCard> their_receives;  ///< beside `sends`
  const Flags* own_flags = nullptr;      ///< in this rank's memory; the partner writes them
  SharedRange remote_flags;              ///< in the partner's; this rank writes them
};

/// What a link for typed transfers is made from.
struct TransferParts {
  ContextState& context;
  const Executor& executor;
  std::vector<Partner> partners;  ///< those it is to serve
  Initiation initiation;
  int tag;
  std::size_t ring_unit_bytes = 0;  ///< of rings into this rank; 0: by where the Views lie
};

/// A partner's memory and flags as this rank maps them, and the copies that put into it.
struct PeerPut {
  int rank = 0;
  bool sends = false;
  bool receives = false;
  const Flags* own_flags = nullptr;
  Flags* remote_flags = nullptr;
  std::vector<CopyRun> placed;  ///< own elements straight to the partner's
  std::vector<std::shared_ptr<void>> mappings;
};
/// Maps what a partner named, reads its layouts from the host's cache and intersects them with this rank's.
[[nodiscard]] PeerPut make_peer_put(ContextState& context, const Partner& partner);

/// Zero copy between ranks of one host. What guards elements that are still read: the receiver's start()
/// releases a credit for the epoch, and no put begins before it has been acquired.
[[nodiscard]] std::unique_ptr<Link> make_peer_transfer(const TransferParts& parts);

/// Packed, one message per partner and way.
[[nodiscard]] std::unique_ptr<Link> make_packed_transfer(const TransferParts& parts, Wire carrier);

/// Units of host memory in turn, packed and unpacked, or copied by DMA to and from packed blocks of a GPU, while the others
/// are underway. Collective between partners. A count of units freed guards those that are still read.
[[nodiscard]] std::unique_ptr<Link> make_ring_transfer(const TransferParts& parts);
[[nodiscard]] std::string refuse_ring(const PairFacts& facts);

}  // namespace selvage::detail
