#include "mapped_messages.hpp"

#include "runtime/cards.hpp"

#include <selvage/comm/detail/signal.hpp>

namespace selvage::detail {
namespace {

/// Tells a neighbour where its messages land and which words it releases.
struct MappedCard {
  SharedRange flags;
  SharedRange owned;
  SharedRange ghost;
};

/// Per neighbour: by field, direction of the exchange, and what this rank does with the message.
std::size_t flag_offset(std::uint32_t field, std::uint32_t reverse, bool sends) {
  return ((field * 2 + reverse) * 2 + (sends ? 1 : 0)) * sizeof(Flag);
}

SharedRange name(const ContextState& context, const std::byte* data, std::size_t bytes, MemoryKind kind) {
  const auto range = context.name_memory(data, bytes, kind);
  if (range) return *range;
  throw Error(ErrorKind::unsupported, "packed messages lie in memory that can't be named to other ranks");
}

}  // namespace

MappedMessages::MappedMessages(const MessageParts& parts, const std::vector<PackedPeer>& peers) {
  ContextState& context = parts.context;
  const std::size_t flag_bytes = flag_offset(static_cast<std::uint32_t>(parts.fields), 0, false);
  std::byte* flags = context.arena().allocate(peers.size() * flag_bytes);
  Arena& arena = context.arena();
  flags_ = {flags, std::shared_ptr<void>(flags, [&arena](void* block) { arena.deallocate(block); })};
  const MemoryKind memory = parts.executor.runs_on_host() ? MemoryKind::host : MemoryKind::device;
  std::vector<CardFor<MappedCard>> cards;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    peers_.emplace_back().own_flags = flags + i * flag_bytes;
    const MappedCard card{name(context, peers_[i].own_flags, flag_bytes, MemoryKind::host),
                          name(context, peers[i].owned.packed.data, peers[i].owned.capacity_bytes(), memory),
                          name(context, peers[i].ghost.packed.data, peers[i].ghost.capacity_bytes(), memory)};
    cards.push_back({peers[i].rank, card});
  }
  const std::vector<MappedCard> theirs =
      swap_cards(context, parts.first_tag, cards, "to set up messages to mapped memory");
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const auto map = [&](const SharedRange& range) {
      const PeerMappings::Mapped mapped = context.mappings().map(range);
      peers_[i].mappings.push_back(mapped.owner);
      return mapped.data;
    };
    peers_[i].peer_flags = map(theirs[i].flags);
    peers_[i].owned = map(theirs[i].owned);
    peers_[i].ghost = map(theirs[i].ghost);
  }
}

void MappedMessages::address(PlannedMessage& message, const PackedBlock& block) const {
  const Peer& peer = peers_[message.peer];
  const bool sends = message.command.kind == CommandKind::send;
  const auto word = [&](std::byte* flags, bool of_sender) {
    return reinterpret_cast<std::uint64_t>(flags + flag_offset(message.field, message.reverse, of_sender));
  };
  // The owner's block and the other rank's block of its ghosts are the same bytes.
  std::byte* landing = message.reverse != 0 ? peer.owned : peer.ghost;
  message.command.remote = reinterpret_cast<std::uint64_t>(landing + block.field_begin(message.field));
  message.command.own_flag = word(peer.own_flags, sends);
  message.command.peer_flag = word(peer.peer_flags, !sends);
}

}  // namespace selvage::detail
