#pragma once

#include "packed_block.hpp"
#include "proxy/message_port.hpp"

#include <memory>
#include <vector>

namespace selvage::detail {

/// Where messages between ranks that map each other's memory land, and the flags that go with them: the
/// receiver's block of the same half, and two words per message in shared host memory, since proxies poll them.
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
