#pragma once

#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/detail/list_program.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace selvage::detail {

/// Where a team works: items [begin, end) of what goes over one link, a component of a particle each.
struct ListShare {
  int peer;
  int team;   ///< among those of the link
  int teams;  ///< of the link, one at least: it tells the other rank that there is nothing
  std::int64_t begin;
  std::int64_t end;
};

KOKKOS_INLINE_FUNCTION int list_teams(std::int64_t items, std::int64_t per_team) {
  return items <= per_team ? 1 : static_cast<int>((items + per_team - 1) / per_team);
}

/// The share of one team of all, links in order.
template <class ItemsOf>
KOKKOS_INLINE_FUNCTION ListShare share_of_team(int team, std::int64_t per_team, const ItemsOf& items_of) {
  int peer = 0;
  int teams = list_teams(items_of(0), per_team);
  for (; team >= teams; teams = list_teams(items_of(peer), per_team)) {
    team -= teams;
    ++peer;
  }
  const std::int64_t items = items_of(peer);
  const std::int64_t begin = team * per_team;
  return {peer, team, teams, begin, begin + per_team < items ? begin + per_team : items};
}

/// function(particle of the link, component), neighbouring threads having neighbouring components. Divides 32 bits only.
template <class Team, class Function>
KOKKOS_INLINE_FUNCTION void for_each_item(const Team& team, const ListShare& share, int components,
                                          const Function& function) {
  const std::int64_t first = share.begin / components;
  const auto skipped = static_cast<std::uint32_t>(share.begin - first * components);
  const auto per_particle = static_cast<std::uint32_t>(components);
  const auto end = static_cast<std::uint32_t>(share.end - share.begin);
  const auto step = static_cast<std::uint32_t>(team.team_size());
  for (auto i = static_cast<std::uint32_t>(team.team_rank()); i < end; i += step) {
    const std::uint32_t item = skipped + i;
    function(first + item / per_particle, static_cast<int>(item % per_particle));
  }
}

/// The first failure goes to the host; later ones follow from it.
KOKKOS_INLINE_FUNCTION void report_fault(const ListProgram& program, int place, ListFault::Kind kind,
                                         std::uint64_t wanted, std::uint64_t seen, const ListHeader& theirs) {
  if (Kokkos::atomic_exchange(&program.state->failed, 1U) != 0) return;
  const ListPeer& peer = program.peers[place];
  ListFault& fault = *program.fault;
  fault.peer_rank = peer.rank;
  fault.announced = program.received(peer).count;
  fault.wanted = wanted;
  fault.seen = seen;
  fault.place = place;
  fault.theirs = theirs;
  fault.mine = program.header;
  fault.mine.entries = program.sent(peer).count;
  // Publishes to the host: the description above.
  release_word(fault.kind, kind);
}

[[nodiscard]] KOKKOS_INLINE_FUNCTION bool has_failed(const ListProgram& program) {
  return Kokkos::atomic_load(&program.state->failed) != 0;
}

/// By one thread: what the other rank has put must be what this one takes.
KOKKOS_INLINE_FUNCTION void require_same_header(const ListProgram& program, int place, std::uint64_t epoch) {
  const ListPeer& peer = program.peers[place];
  const ListHeader theirs = peer.own->headers[epoch % 2];
  const ListHeader& mine = program.header;
  if (theirs.operation == mine.operation && theirs.particle_bytes == mine.particle_bytes &&
      theirs.signature == mine.signature && theirs.entries == program.received(peer).count)
    return;
  report_fault(program, place, ListFault::mismatch, epoch, epoch, theirs);
}

/// By one thread, before a barrier of its team: what a peer has put is there, or the program has failed.
KOKKOS_INLINE_FUNCTION void await_peer(const ListProgram& program, int place, std::uint64_t epoch) {
  const Flag& arrived = program.peers[place].own->arrived;
  const std::uint64_t start = clock_ns();
  while (true) {
    for (int poll = 0; poll < 64; ++poll) {
      // Acquires the peer's header, and its stores to this rank's landing block.
      if (has_reached(acquire_epoch(arrived), epoch)) {
        require_same_header(program, place, epoch);
        return;
      }
    }
    if (has_failed(program)) return;
    if (clock_ns() - start > program.timeout_ns) {
      report_fault(program, place, ListFault::late, epoch, acquire_epoch(arrived), {});
      return;
    }
    yield_core();
  }
}

/// Packs particles into the peers' landing blocks.
/// \tparam Body  component(particle, number of the component, where it is packed to)
template <class Body>
struct PutParticles {
  Body body;
  int components = 1;
  std::int64_t per_team = 1;  ///< items

  [[nodiscard]] KOKKOS_FUNCTION int teams(const ListProgram& program, const ListPeer& peer) const {
    return list_teams(program.sent(peer).count * components, per_team);
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const ListProgram& program, std::uint64_t epoch,
                                  int number) const {
    const ListShare share = share_of_team(
        number, per_team, [&](int peer) { return program.sent(program.peers[peer]).count * components; });
    ListPeer& peer = program.peers[share.peer];
    const ListRange range = program.sent(peer);
    std::byte* const block =
        peer.remote_blocks + static_cast<std::int64_t>(epoch % 2) * peer.remote_block_bytes;
    const std::int64_t particle_bytes = program.header.particle_bytes;
    // After a failure nothing may pass for a later epoch: a graph may go on to be replayed.
    if (!has_failed(program)) {
      for_each_item(team, share, components, [&](std::int64_t particle, int component) {
        body.component(range.first + particle, component, block + particle * particle_bytes);
      });
    }
    team.team_barrier();
    // Asked again: where any thread has left its share, this one sees why.
    if (team.team_rank() == 0 && !has_failed(program)) tell(program, peer, share, epoch);
  }

 private:
  KOKKOS_FUNCTION static void tell(const ListProgram& program, ListPeer& peer, const ListShare& share,
                                   std::uint64_t epoch) {
    if (!is_last_of(peer.puts_done, static_cast<std::uint64_t>(share.teams))) return;
    ListHeader& header = peer.remote->headers[epoch % 2];
    header = program.header;
    header.entries = program.sent(peer).count;
    // Publishes to the peer: the particles of all teams, counted in above, the header, and that this rank is done with
    // the epoch before, landing block and all.
    release_epoch(peer.remote->arrived, epoch);
  }
};

/// Unpacks what has come into ghosts, each link's as soon as it is there.
/// \tparam Body  component(ghost, number of the component, where it is packed)
template <class Body>
struct TakeParticles {
  Body body;
  int components = 1;
  std::int64_t per_team = 1;  ///< items

  [[nodiscard]] KOKKOS_FUNCTION int teams(const ListProgram& program, const ListPeer& peer) const {
    return list_teams(program.received(peer).count * components, per_team);
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const ListProgram& program, std::uint64_t epoch,
                                  int number) const {
    const ListShare share = share_of_team(
        number, per_team, [&](int peer) { return program.received(program.peers[peer]).count * components; });
    const ListPeer& peer = program.peers[share.peer];
    if (team.team_rank() == 0) await_peer(program, share.peer, epoch);
    team.team_barrier();
    if (has_failed(program)) return;
    const std::int64_t first = program.received(peer).first;
    std::byte* const block = peer.own_blocks + static_cast<std::int64_t>(epoch % 2) * peer.own_block_bytes;
    const std::int64_t particle_bytes = program.header.particle_bytes;
    for_each_item(team, share, components, [&](std::int64_t particle, int component) {
      body.component(first + particle, component, block + particle * particle_bytes);
    });
  }
};

/// Waits for all links, which threads of a team share, then does the team's part of the rest.
/// \tparam Rest  (team, program, epoch, number of the team)
template <class Rest>
struct AwaitAll {
  Rest rest;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const ListProgram& program, std::uint64_t epoch,
                                  int number) const {
    for (int peer = team.team_rank(); peer < program.peer_count; peer += team.team_size())
      await_peer(program, peer, epoch);
    team.team_barrier();
    if (!has_failed(program)) rest(team, program, epoch, number);
  }
};

struct NothingToTake {
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team&, const ListProgram&, std::uint64_t, int) const {}
};
struct AwaitWork {
  template <class Team>
  KOKKOS_FUNCTION void put(const Team&, const ListProgram&, std::uint64_t, int) const {}
  template <class Team>
  KOKKOS_FUNCTION void take(const Team& team, const ListProgram& program, std::uint64_t epoch,
                            int number) const {
    AwaitAll<NothingToTake>{}(team, program, epoch, number);
  }
};

/// Adds to particles what has come for them, each particle's in the order of its entries, ranks in order.
template <class Fields>
struct AddToParticles {
  Fields fields;
  const int* before;      ///< by particle: entries of lower ones
  const int* entries_of;  ///< by particle, then in order
  std::int64_t particles;
  int teams;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const ListProgram& program, std::uint64_t epoch,
                                  int number) const {
    const std::int64_t step = static_cast<std::int64_t>(teams) * team.team_size();
    for (std::int64_t i = static_cast<std::int64_t>(number) * team.team_size() + team.team_rank();
         i < particles; i += step)
      add(program, epoch, i);
  }

 private:
  KOKKOS_FUNCTION void add(const ListProgram& program, std::uint64_t epoch, std::int64_t particle) const {
    for (int i = before[particle]; i < before[particle + 1]; ++i) {
      const std::int64_t entry = entries_of[i];
      const ListPeer& peer = peer_of(program, entry);
      std::byte* const packed = peer.own_blocks +
                                static_cast<std::int64_t>(epoch % 2) * peer.own_block_bytes +
                                (entry - peer.out.first) * program.header.particle_bytes;
      fields.each_component(
          [&](const auto& field, int component) { field.add(particle, component, packed); });
    }
  }
  KOKKOS_FUNCTION static const ListPeer& peer_of(const ListProgram& program, std::int64_t entry) {
    int peer = 0;
    while (entry >= program.peers[peer].out.first + program.peers[peer].out.count) ++peer;
    return program.peers[peer];
  }
};

/// Puts with its first teams, which are running when those that wait take their places, and takes with the others.
/// \tparam Work  put() and take(), each with (team, program, epoch, number of the team among those that do so)
template <class Work>
struct ListExchange {
  ListProgram program;
  Work work;
  int put_teams = 0;
  int take_teams = 0;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    // The same for all teams: whoever is the last one advances it.
    const std::uint64_t epoch = program.state->epoch + 1;
    if (team.league_rank() < put_teams) {
      work.put(team, program, epoch, team.league_rank());
    } else {
      work.take(team, program, epoch, team.league_rank() - put_teams);
    }
    if (take_teams == 0) return;
    team.team_barrier();
    if (team.team_rank() != 0) return;
    if (is_last_of(program.state->teams_done, static_cast<std::uint64_t>(put_teams + take_teams)))
      program.state->epoch = epoch;
  }
};

/// How work is shared among teams of one instance. All teams of a launch must be resident at once, since some wait for
/// what other ranks' teams, launched likewise, put: on a GPU two teams per multiprocessor put, and two take.
template <class Space>
class ListTeams {
 public:
  static constexpr int threads = is_host_space<Space> ? 1 : 256;

  explicit ListTeams(const Space& space) : space_(space) {
    constexpr int threads_of_multiprocessor = 2048;
    most_ = std::max(1, is_host_space<Space> ? space.concurrency()
                                             : 2 * (space.concurrency() / threads_of_multiprocessor));
  }

  /// For about so many items over so many links, each of which has a team of its own.
  [[nodiscard]] std::int64_t per_team(std::int64_t items, int links) const {
    constexpr std::int64_t fewest = is_host_space<Space> ? 4096 : 2 * threads;
    constexpr std::int64_t most_items = std::int64_t{1} << 30;
    const int most = std::max(1, most_ - links);
    return std::min(most_items, std::max(fewest, (items + most - 1) / most));
  }
  [[nodiscard]] int teams_for(std::int64_t items) const {
    return static_cast<int>(std::clamp<std::int64_t>((items + threads - 1) / threads, 1, most_));
  }

  template <class Kernel>
  void launch(const char* name, const Kernel& kernel) const {
    const int teams = kernel.put_teams + kernel.take_teams;
    if (teams == 0) return;
    using Policy = Kokkos::TeamPolicy<
        Space, Kokkos::LaunchBounds<is_host_space<Space> ? 0 : threads, is_host_space<Space> ? 0 : 4>>;
    Kokkos::parallel_for(name, Policy(space_, teams, threads), kernel);
  }

 private:
  Space space_;
  int most_ = 1;
};

}  // namespace selvage::detail
