#pragma once

#include <selvage/comm/detail/all_of_team.hpp>
#include <selvage/comm/detail/list_port_table.hpp>
#include <selvage/comm/detail/polling.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace selvage {

/// The handle through which a kernel sends its own particles and reads its ghosts: ListHalo::device() makes it, kernels
/// copy it. Small, trivially copyable, and valid until the list's next rebuild() or device().
///
/// Triggered operations in direct form (LeBeane, thesis ch. 6), for lists: the put is fused into the kernel that computes
/// the particles, and the trigger into the kernel that needs the ghosts. Ghosts lie where the peers' kernels store them,
/// so nothing is packed, unpacked or copied, and no team waits for its stores.
///
/// In a launch that puts, all teams call open() and together put every entry of the list once. In later kernels on the same
/// instance all teams call await(); the first of these kernels tells the peers that their ghosts are complete. At least one team
/// must ask for its ghosts before the next launch that puts. All ranks that share ghosts make the same launches that put.
/// Errors are thrown by ListHalo::check(), after a fence, and by the list's next call: Error{timeout} that names the rank whose
/// ghosts didn't come; Error{usage} where no team has asked for ghosts between two launches that put.
///
/// \tparam T  what a ghost is: trivially copyable
template <class T>
class ListPort {
 public:
  class Launch;

  ListPort() = default;
  explicit ListPort(const detail::ListPortTable& table) : table_(table) {}

  /// Begins a launch that puts. Called by all threads of all teams.
  template <class Team>
  [[nodiscard]] KOKKOS_FUNCTION Launch open(const Team& team) const;

  /// Waits until all ghosts of the last launch that put are there, if any thread of the team wants them. Called by all
  /// threads of all teams.
  /// \return the ghosts, in the list's order, until the next launch that puts; null where no thread wanted them
  template <class Team>
  [[nodiscard]] KOKKOS_FUNCTION const T* await(const Team& team, bool wanted = true) const;

  /// The same without a wait, in kernels after one that has awaited them.
  [[nodiscard]] KOKKOS_FUNCTION const T* ghosts() const { return ghosts_of(table_.state->putting); }

 private:
  [[nodiscard]] KOKKOS_FUNCTION const T* ghosts_of(std::uint64_t epoch) const {
    return reinterpret_cast<const T*>(epoch % 2 == 0 ? table_.ghosts : table_.ghosts + table_.to_odd_epochs);
  }
  template <class Team>
  KOKKOS_FUNCTION void tell_peers(const Team& team, std::uint64_t epoch) const;
  KOKKOS_FUNCTION void await_peer(int place, std::uint64_t epoch) const;
  KOKKOS_FUNCTION void report(detail::ListPortFault::Kind kind, std::int64_t rank, std::uint64_t wanted,
                              std::uint64_t seen) const;
  [[nodiscard]] KOKKOS_FUNCTION bool has_failed() const {
    return detail::load_relaxed(table_.state->failed) != 0;
  }

  detail::ListPortTable table_;
};

/// One team's part of a launch that puts.
template <class T>
class ListPort<T>::Launch {
 public:
  /// Stores the ghost of an entry; called by one thread.
  /// \param place  of the entry in the list that rebuild() was given
  KOKKOS_FUNCTION void put(std::int64_t place, const T& ghost) const {
    if (!may_put_) return;
    const detail::ListPortPlace to = port_.table_.places[place];
    const detail::ListPortPeer& peer = port_.table_.peers[to.peer];
    std::byte* const ghosts = epoch_ % 2 == 0 ? peer.ghosts : peer.ghosts + peer.to_odd_epochs;
    reinterpret_cast<T*>(ghosts)[to.ghost] = ghost;
  }

 private:
  friend class ListPort;
  KOKKOS_FUNCTION Launch(const ListPort& port, std::uint64_t epoch, bool may_put)
      : port_(port), epoch_(epoch), may_put_(may_put) {}

  const ListPort& port_;
  std::uint64_t epoch_;
  bool may_put_;
};

template <class T>
template <class Team>
KOKKOS_FUNCTION typename ListPort<T>::Launch ListPort<T>::open(const Team& team) const {
  detail::ListPortState& state = *table_.state;
  const std::uint64_t signalled = state.signalled;
  const std::uint64_t awaited = state.awaited;
  const bool may_put = !has_failed();
  if (awaited != signalled && table_.peer_count > 0)
    report(detail::ListPortFault::not_awaited, 0, signalled, awaited);
  if (team.league_rank() == 0)
    Kokkos::single(Kokkos::PerTeam(team), [&]() { state.putting = signalled + 1; });
  return {*this, signalled + 1, may_put && awaited == signalled};
}

template <class T>
template <class Team>
KOKKOS_FUNCTION const T* ListPort<T>::await(const Team& team, bool wanted) const {
  const std::uint64_t epoch = table_.state->putting;
  if (team.league_rank() == 0) tell_peers(team, epoch);
  if (detail::all_of_team(team, !wanted)) return nullptr;
  for (int peer = team.team_rank(); peer < table_.peer_count; peer += team.team_size())
    await_peer(peer, epoch);
  team.team_barrier();
  // For this instance's next launch that puts.
  Kokkos::single(Kokkos::PerTeam(team), [&]() { detail::store_relaxed(table_.state->awaited, epoch); });
  return ghosts_of(epoch);
}

/// The first time after a launch that put.
template <class T>
template <class Team>
KOKKOS_FUNCTION void ListPort<T>::tell_peers(const Team& team, std::uint64_t epoch) const {
  Kokkos::single(Kokkos::PerTeam(team), [&]() {
    // After a failure nothing may pass for a later epoch.
    if (table_.state->signalled == epoch || has_failed()) return;
    // Publishes to every peer: its ghosts, stored by a kernel that has ended, and that kernels before have read theirs.
    detail::publish();
    for (int peer = 0; peer < table_.peer_count; ++peer)
      detail::publish_epoch(*table_.peers[peer].arrived, epoch);
    table_.state->signalled = epoch;
  });
}

template <class T>
KOKKOS_FUNCTION void ListPort<T>::await_peer(int place, std::uint64_t epoch) const {
  const detail::Flag& arrived = table_.arrived[place];
  // Acquires the peer's stores to this rank's ghosts.
  const detail::HasReached reached{&arrived.epoch, epoch};
  if (detail::poll_until([&] { return reached() || has_failed(); }, table_.timeout_ns)) return;
  report(detail::ListPortFault::late, table_.peers[place].rank, epoch, detail::acquire_epoch(arrived));
}

/// The first failure goes to the host; later ones follow from it.
template <class T>
KOKKOS_FUNCTION void ListPort<T>::report(detail::ListPortFault::Kind kind, std::int64_t rank,
                                         std::uint64_t wanted, std::uint64_t seen) const {
  if (Kokkos::atomic_exchange(&table_.state->failed, 1U) != 0) return;
  detail::ListPortFault& fault = *table_.fault;
  fault.rank = rank;
  fault.wanted = wanted;
  fault.seen = seen;
  // Publishes to the host: the description above.
  detail::release_word(fault.kind, kind);
}

}  // namespace selvage
