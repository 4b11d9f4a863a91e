#include "peer_link.hpp"

#include "runtime/cards.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::detail {
namespace {

std::vector<MailboxCard> exchange_cards(const TransportParts& parts, const Mailbox& mailbox) {
  std::vector<CardFor<MailboxCard>> cards;
  for (std::size_t i = 0; i < parts.peers.size(); ++i)
    cards.push_back({parts.peers[i].neighbour.rank, mailbox.card(i)});
  return swap_cards(parts.context, parts.first_tag, cards, "to set up peer transport");
}

std::byte* map(PeerLink& link, const TransportParts& parts, const SharedRange& range) {
  const PeerMappings::Mapped mapped = parts.context.mappings().map(range);
  link.mappings.push_back(mapped.owner);
  return mapped.data;
}

PeerLink make_link(const TransportParts& parts, const PeerPlan& plan, const MailboxCard& card,
                   const Mailbox& own_mailbox, std::size_t index, RouteRules rules) {
  const ContextState& context = parts.context;
  if (!context.machine().same_gpu(context.rank(), plan.neighbour.rank))
    rules.scattered_bytes = RouteRules::no_limit;
  const Packing owned(plan.neighbour, parts.fields, parts.axes, BoundarySide::owned);
  const Packing ghost(plan.neighbour, parts.fields, parts.axes, BoundarySide::ghost);
  PeerLink link;
  link.rank = plan.neighbour.rank;
  link.owned_bytes = owned.bytes() > 0;
  link.ghost_bytes = ghost.bytes() > 0;
  link.alternating = parts.ghost_reuse == GhostReuse::alternating;
  std::byte* mailbox = map(link, parts, card.range);
  link.remote_flags = reinterpret_cast<Flags*>(mailbox + card.flags_offset);
  PeerMemory remote{.fields = {},
                    .ghosts_blocks = {mailbox + card.ghosts_offsets[0], mailbox + card.ghosts_offsets[1]}};
  for (std::size_t f = 0; f < parts.fields.size(); ++f) {
    remote.fields.push_back(map(link, parts, plan.cards[f].range));
    link.reverse_puts.push_back(
        pack_boxes(ghost, f, parts.fields[f], mailbox + card.contributions_offset, layout_of(plan.cards[f])));
    link.contributions.push_back(
        contributions_of(owned, f, parts.fields[f], own_mailbox.contributions(index)));
  }
  const OwnMemory own{.ghosts_blocks = {own_mailbox.ghosts(index, 0), own_mailbox.ghosts(index, 1)}};
  link.routes = make_routes(parts, plan, remote, own, rules);
  return link;
}

}  // namespace

std::vector<LandingBytes> landing_bytes(const TransportParts& parts) {
  std::vector<LandingBytes> bytes;
  for (const PeerPlan& peer : parts.peers) {
    bytes.push_back(
        {.ghosts = Packing(peer.neighbour, parts.fields, parts.axes, BoundarySide::ghost).bytes(),
         .contributions = Packing(peer.neighbour, parts.fields, parts.axes, BoundarySide::owned).bytes()});
  }
  return bytes;
}

std::vector<PeerLink> connect(const TransportParts& parts, const Mailbox& mailbox, const RouteRules& rules) {
  const std::vector<MailboxCard> cards = exchange_cards(parts, mailbox);
  std::vector<PeerLink> links;
  for (std::size_t i = 0; i < parts.peers.size(); ++i) {
    links.push_back(make_link(parts, parts.peers[i], cards[i], mailbox, i, rules));
  }
  return links;
}

namespace {

std::string views_text(std::uint64_t fields) {
  std::vector<int> numbers;
  for (int field = 0; field < max_fields; ++field) {
    if ((fields >> field & 1) != 0) numbers.push_back(field);
  }
  return fmt::format("{} {}", numbers.size() == 1 ? "View" : "Views", fmt::join(numbers, ", "));
}

}  // namespace

std::string describe_mismatch(int rank, std::uint64_t epoch, const Operation& theirs, const Operation& mine) {
  const auto describe = [](const Operation& operation) {
    return fmt::format("{} {}", operation.reverse != 0 ? "reduces" : "exchanges",
                       views_text(operation.fields));
  };
  return fmt::format("ranks call one HaloExchange differently: in epoch {} rank {} {}, this rank {}", epoch,
                     rank, describe(theirs), describe(mine));
}

}  // namespace selvage::detail
