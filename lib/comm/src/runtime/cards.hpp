#pragma once

#include "context_state.hpp"

#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace selvage::detail {

/// The bytes that this rank sends to another.
template <class Card>
struct CardsFor {
  int rank;
  std::vector<Card> cards;
};

/// Sends bytes to each of some ranks and receives as many from each; bytes for this rank itself are returned. All of these ranks must
/// call it together.
/// \param purpose  completes "waited N ms for rank 3 ..."
/// \return the received bytes, in the order of `mine` \throws Error{timeout} that names the late ranks, Error{mpi}
[[nodiscard]] std::vector<std::vector<std::byte>> swap_bytes(ContextState& context, int tag,
                                                             std::vector<CardsFor<std::byte>> mine,
                                                             std::string_view purpose);

/// The same for several cards per rank, as many in each direction.
template <class Card>
[[nodiscard]] std::vector<std::vector<Card>> swap_cards(ContextState& context, int tag,
                                                        const std::vector<CardsFor<Card>>& mine,
                                                        std::string_view purpose) {
  static_assert(std::is_trivially_copyable_v<Card>);
  std::vector<CardsFor<std::byte>> sent;
  for (const CardsFor<Card>& each : mine) {
    const auto* bytes = reinterpret_cast<const std::byte*>(each.cards.data());
    sent.push_back({each.rank, {bytes, bytes + each.cards.size() * sizeof(Card)}});
  }
  const auto received = swap_bytes(context, tag, std::move(sent), purpose);
  std::vector<std::vector<Card>> theirs;
  for (const std::vector<std::byte>& bytes : received) {
    std::vector<Card>& cards = theirs.emplace_back(bytes.size() / sizeof(Card));
    if (!cards.empty()) std::memcpy(cards.data(), bytes.data(), bytes.size());
  }
  return theirs;
}

template <class Card>
struct CardFor {
  int rank;
  Card card;
};

/// The same for one card in each direction.
template <class Card>
[[nodiscard]] std::vector<Card> swap_cards(ContextState& context, int tag,
                                           const std::vector<CardFor<Card>>& mine, std::string_view purpose) {
  std::vector<CardsFor<Card>> sent;
  for (const CardFor<Card>& each : mine) sent.push_back({each.rank, {each.card}});
  std::vector<Card> theirs;
  for (const std::vector<Card>& cards : swap_cards(context, tag, sent, purpose))
    theirs.push_back(cards.front());
  return theirs;
}

}  // namespace selvage::detail
