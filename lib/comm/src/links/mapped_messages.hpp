#pragma once

#include "packed_block.hpp"
#include "proxy/message_port.hpp"

#include <memory>
#include <vector>

namespace selvage::detail {

/// Messages between ranks that map each other's memory: where each lands, which is the receiver's block for the same cells, and its
/// flags, which are two words in shared host memory because proxies poll them.
class MappedMessages {
 public:
  /// Swaps cards with all neighbours, which do the same at the same time.
  MappedMessages(const MessageParts& parts, const std::vector<PackedPeer>& peers);
  MappedMessages(const MappedMessages&) = delete;
  MappedMessages& operator=(const MappedMessages&) = delete;

  /// Completes the description of a message.
  /// \param block  of the sender
  void address(PlannedMessage& message, const PackedBlock& block) const;

 private:
  struct Peer {
    std::byte* own_flags = nullptr;
    std::byte* peer_flags = nullptr;
    std::byte* owned = nullptr;  ///< the peer's blocks
    std::byte* ghost = nullptr;
    std::vector<std::shared_ptr<void>> mappings;
  };

  Buffer flags_;
  std::vector<Peer> peers_;
};

}  // namespace selvage::detail
