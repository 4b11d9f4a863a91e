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
  if (share.begin >= share.end) return;
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
  return load_relaxed(program.state->failed) != 0;
}

/// By one thread: what the other rank has put must be what this one takes.
KOKKOS_INLINE_FUNCTION void require_same_header(const ListProgram& program, int place, std::uint64_t epoch) {
  const ListPeer& peer = program.peers[place];
  const ListHeader theirs = peer.own_header(epoch);
  const ListHeader& mine = program.header;
  if (theirs.operation == mine.operation && theirs.particle_bytes == mine.particle_bytes &&
      theirs.signature == mine.signature && theirs.entries == program.received(peer).count)
    return;
  report_fault(program, place, ListFault::mismatch, epoch, epoch, theirs);
}

/// \return whether the flag has come to `epoch`; if not, the program has failed
KOKKOS_INLINE_FUNCTION bool await_flag(const ListProgram& program, int place, const Flag& flag,
                                       std::uint64_t epoch, ListFault::Kind kind) {
  const std::uint64_t start = clock_ns();
  while (true) {
    for (int poll = 0; poll < 64; ++poll) {
      // Acquires what await_peer() says.
      if (has_reached(acquire_epoch(flag), epoch)) return true;
    }
    if (has_failed(program)) return false;
    if (clock_ns() - start > program.timeout_ns) {
      report_fault(program, place, kind, epoch, acquire_epoch(flag), {});
      return false;
    }
    yield_core();
  }
}

/// By one thread, before a barrier of its team: what a peer has put is there, or the program has failed.
KOKKOS_INLINE_FUNCTION void await_peer(const ListProgram& program, int place, std::uint64_t epoch) {
  const ListPeer& peer = program.peers[place];
  // Acquires the peer's header and its stores to this rank's landing block, or the proxy's.
  if (!await_flag(program, place, peer.own->arrived, epoch, ListFault::late)) return;
  require_same_header(program, place, epoch);
  // Acquires from the proxy that it no longer reads what the next operation packs into.
  if (peer.remote == nullptr)
    static_cast<void>(await_flag(program, place, peer.own->sent, epoch - 1, ListFault::not_sent));
}

/// Packs particles into the peers' landing blocks. They learn of it in a later kernel, by tell_peers().
/// \tparam Body  component(particle, number of the component, where it is packed to)
template <class Body>
struct PutParticles {
  ListProgram program;
  Body body;
  int components = 1;
  std::int64_t per_team = 1;  ///< items

  [[nodiscard]] KOKKOS_FUNCTION int teams(const ListPeer& peer) const {
    return list_teams(program.sent(peer).count * components, per_team);
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (has_failed(program)) return;
    const std::uint64_t epoch = program.state->epoch + 1;
    if (team.league_rank() == 0 && team.team_rank() == 0) program.state->put = epoch;
    const ListShare share = share_of_team(team.league_rank(), per_team, [&](int peer) {
      return program.sent(program.peers[peer]).count * components;
    });
    const ListPeer& peer = program.peers[share.peer];
    const ListRange range = program.sent(peer);
    std::byte* const block =
        peer.remote_blocks + static_cast<std::int64_t>(epoch % 2) * peer.remote_block_bytes;
    const std::int64_t particle_bytes = program.header.particle_bytes;
    for_each_item(team, share, components, [&](std::int64_t particle, int component) {
      body.component(range.first + particle, component, block + particle * particle_bytes);
    });
  }
};

/// Has the proxy send what was put, as many bytes as that is, and receive what comes: a whole descriptor each (LeBeane,
/// 5.3.1). In this order: who has received has sent, so that the host's own messages come later.
KOKKOS_INLINE_FUNCTION void queue_messages(const ListProgram& program, const ListPeer& peer,
                                           const ListHeader& header, std::uint64_t epoch) {
  const CommandPort::Ring ring = program.commands->ring(peer.ring);
  const std::int64_t bytes = list_header_bytes + header.entries * header.particle_bytes;
  Command command;
  command.kind = CommandKind::send;
  command.rank = peer.rank;
  command.offset = static_cast<std::uint64_t>(program.message_tag);
  command.bytes =
      static_cast<std::uint64_t>(bytes < least_list_message_bytes ? least_list_message_bytes : bytes);
  command.payload = reinterpret_cast<std::uint64_t>(&peer.remote_header(epoch));
  command.arrival = reinterpret_cast<std::uint64_t>(&peer.own->sent.epoch);
  command.arrival_value = epoch;
  // Publishes to the proxy: the header, and the particles, stored by a kernel that has ended.
  static_cast<void>(ring.enqueue(command, false));
  command.kind = CommandKind::receive_up_to;
  command.bytes = static_cast<std::uint64_t>(peer.own_block_bytes);
  command.payload = reinterpret_cast<std::uint64_t>(&peer.own_header(epoch));
  command.arrival = reinterpret_cast<std::uint64_t>(&peer.own->arrived.epoch);
  // Publishes to the proxy: the block may be written, since the kernels that read it have ended.
  static_cast<void>(ring.enqueue(command, false));
}

/// By one team, in a kernel after the one that has put: that has ended with all its stores, where each of its teams would
/// have to wait for its own.
template <class Team>
KOKKOS_FUNCTION void tell_peers(const Team& team, const ListProgram& program, std::uint64_t epoch) {
  // After a failure nothing may pass for a later epoch: a graph may go on to be replayed. But what was put before is told:
  // another team of this kernel may have failed already, and the peers would wait in vain.
  if (program.state->put != epoch) return;
  for (int place = team.team_rank(); place < program.peer_count; place += team.team_size()) {
    const ListPeer& peer = program.peers[place];
    ListHeader& header = peer.remote_header(epoch);
    header = program.header;
    header.entries = program.sent(peer).count;
    if (peer.remote == nullptr) {
      queue_messages(program, peer, header, epoch);
      continue;
    }
    // Publishes to the peer: the particles, stored by a kernel that has ended; the header; and that this rank is done with
    // the epoch before, landing block and all.
    release_epoch(peer.remote->arrived, epoch);
  }
}

/// Between a kernel that puts and one that takes, where others may not wait for the latter.
struct TellPeers {
  ListProgram program;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    tell_peers(team, program, program.state->epoch + 1);
  }
};

/// What the kernels that take begin and end with.
struct ListTurn {
  ListProgram program;
  bool tells = false;  ///< since the kernel before has put

  /// \return the epoch
  template <class Team>
  KOKKOS_FUNCTION std::uint64_t begin(const Team& team) const {
    // The same for all teams: whoever is the last one advances it.
    const std::uint64_t epoch = program.state->epoch + 1;
    if (tells && team.league_rank() == 0) tell_peers(team, program, epoch);
    return epoch;
  }
  template <class Team>
  KOKKOS_FUNCTION void end(const Team& team, std::uint64_t epoch) const {
    team.team_barrier();
    if (team.team_rank() != 0) return;
    if (is_last_of(program.state->teams_done, static_cast<std::uint64_t>(team.league_size())))
      program.state->epoch = epoch;
  }
  /// Waits for all links, which threads of a team share. \return false on all of them when the program has failed
  template <class Team>
  [[nodiscard]] KOKKOS_FUNCTION bool await_all(const Team& team, std::uint64_t epoch) const {
    for (int peer = team.team_rank(); peer < program.peer_count; peer += team.team_size())
      await_peer(program, peer, epoch);
    team.team_barrier();
    return !has_failed(program);
  }
};

/// Waits only.
struct AwaitPeers {
  ListTurn turn;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::uint64_t epoch = turn.begin(team);
    static_cast<void>(turn.await_all(team, epoch));
    turn.end(team, epoch);
  }
};

/// Unpacks what has come into ghosts, each link's as soon as it is there.
/// \tparam Body  component(ghost, number of the component, where it is packed)
template <class Body>
struct TakeParticles {
  ListTurn turn;
  Body body;
  int components = 1;
  std::int64_t per_team = 1;  ///< items

  [[nodiscard]] KOKKOS_FUNCTION int teams(const ListPeer& peer) const {
    return list_teams(turn.program.received(peer).count * components, per_team);
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::uint64_t epoch = turn.begin(team);
    const ListProgram& program = turn.program;
    const ListShare share = share_of_team(team.league_rank(), per_team, [&](int peer) {
      return program.received(program.peers[peer]).count * components;
    });
    if (team.team_rank() == 0) await_peer(program, share.peer, epoch);
    team.team_barrier();
    if (!has_failed(program)) unpack(team, share, epoch);
    turn.end(team, epoch);
  }

 private:
  template <class Team>
  KOKKOS_FUNCTION void unpack(const Team& team, const ListShare& share, std::uint64_t epoch) const {
    const ListPeer& peer = turn.program.peers[share.peer];
    const std::int64_t first = turn.program.received(peer).first;
    std::byte* const block = peer.own_blocks + static_cast<std::int64_t>(epoch % 2) * peer.own_block_bytes;
    const std::int64_t particle_bytes = turn.program.header.particle_bytes;
    for_each_item(team, share, components, [&](std::int64_t particle, int component) {
      body.component(first + particle, component, block + particle * particle_bytes);
    });
  }
};

/// Adds to particles what has come for them, each particle's in the order of its entries, ranks in order.
template <class Fields>
struct AddToParticles {
  ListTurn turn;
  Fields fields;
  const int* before;      ///< by particle: entries of lower ones
  const int* entries_of;  ///< by particle, then in order
  std::int64_t particles;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::uint64_t epoch = turn.begin(team);
    const std::int64_t step = static_cast<std::int64_t>(team.league_size()) * team.team_size();
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * team.team_size() + team.team_rank();
    if (turn.await_all(team, epoch)) {
      for (std::int64_t i = first; i < particles; i += step) add(epoch, i);
    }
    turn.end(team, epoch);
  }

 private:
  KOKKOS_FUNCTION void add(std::uint64_t epoch, std::int64_t particle) const {
    for (int i = before[particle]; i < before[particle + 1]; ++i) {
      const std::int64_t entry = entries_of[i];
      const ListPeer& peer = peer_of(entry);
      std::byte* const packed = peer.own_blocks +
                                static_cast<std::int64_t>(epoch % 2) * peer.own_block_bytes +
                                (entry - peer.out.first) * turn.program.header.particle_bytes;
      fields.each_component(
          [&](const auto& field, int component) { field.add(particle, component, packed); });
    }
  }
  KOKKOS_FUNCTION const ListPeer& peer_of(std::int64_t entry) const {
    const ListPeer* peer = turn.program.peers;
    while (entry >= peer->out.first + peer->out.count) ++peer;
    return *peer;
  }
};

/// How work is shared among teams of one instance. Teams that take wait for kernels of other ranks, which wait for
/// none, but for the first team of a launch; so any number is right, and on a GPU two for a multiprocessor are enough.
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
  void launch(const char* name, int teams, const Kernel& kernel) const {
    using Policy = Kokkos::TeamPolicy<
        Space, Kokkos::LaunchBounds<is_host_space<Space> ? 0 : threads, is_host_space<Space> ? 0 : 4>>;
    Kokkos::parallel_for(name, Policy(space_, teams, threads), kernel);
  }

 private:
  Space space_;
  int most_ = 1;
};

}  // namespace selvage::detail
