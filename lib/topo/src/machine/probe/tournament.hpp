#pragma once

namespace selvage::topo {

/// Rounds in which each two players meet once, by the circle method of tournaments.
[[nodiscard]] constexpr int tournament_rounds(int players) {
  return players + players % 2 - 1;
}

/// Whom a player meets in a round; the player itself where it has none to meet.
[[nodiscard]] constexpr int tournament_partner(int player, int round, int players) {
  const int others = tournament_rounds(players);
  int partner = round;
  if (player != others) {
    partner = ((2 * round - player) % others + others) % others;
    if (partner == player) partner = others;
  }
  return partner < players ? partner : player;
}

}  // namespace selvage::topo
