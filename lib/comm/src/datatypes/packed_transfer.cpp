#include "layouts/prepared_copy.hpp"
#include "links/messages.hpp"
#include "runtime/message_size.hpp"
#include "transfer_parts.hpp"

#include <utility>

namespace selvage::detail {
namespace {

constexpr std::int64_t part_alignment = 16;

/// The parts of one direction, in one block of one field.
PackedBlock pack_parts(const MessageParts& messages, const std::vector<TransferPart>& parts, bool outgoing) {
  std::vector<std::int64_t> begins{0};
  for (const TransferPart& part : parts)
    begins.push_back((begins.back() + part.bytes + part_alignment - 1) / part_alignment * part_alignment);
  PackedBlock block;
  block.begins.push_back(message_size(begins.back()));
  block.allocate(messages);
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
  (outgoing ? block.pack : block.unpack).push_back(make_run_copy(messages.executor, placed));
  return block;
}

}  // namespace

std::unique_ptr<Link> make_packed_transfer(const TransferParts& parts, Wire carrier) {
  const MessageParts messages{.context = parts.context,
                              .executor = parts.executor,
                              .carrier = carrier,
                              .initiation = parts.initiation,
                              .fields = 1,
                              .reverses = false,
                              .first_tag = parts.tag};
  std::vector<PackedPeer> peers;
  for (const Partner& partner : parts.partners) {
    peers.push_back({.rank = partner.rank,
                     .owned = pack_parts(messages, partner.sends, true),
                     .ghost = pack_parts(messages, partner.receives, false),
                     .contributions = {}});
  }
  return make_messages(messages, std::move(peers));
}

}  // namespace selvage::detail
