#pragma once

// What the functions of HaloPort and HaloPort::Launch do in a kernel.

#include <selvage/comm/halo_port.hpp>

namespace selvage {

template <class Team>
KOKKOS_FUNCTION HaloPort::Launch HaloPort::open(const Team& team) const {
  const Launch launch(*this, state_->epoch, !has_failed());
  if (team.league_rank() == 0) {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, int{detail::direction_codes}), [&](int code) {
      const detail::PortDirection& direction = directions_[code];
      // Publishes to the neighbour: launches before this one are past their reads of these ghosts.
      if ((present_ >> code & 1) != 0 && direction.receives)
        detail::release_epoch(direction.remote->credit, launch.base_ + 1);
    });
  }
  return launch;
}

KOKKOS_INLINE_FUNCTION HaloPort::Launch HaloPort::wait_only() const {
  return Launch(*this, state_->epoch, true);
}

KOKKOS_INLINE_FUNCTION HaloPort::Tile HaloPort::tile(int view, Towards towards, const Box& box) const {
  Tile tile;
  if (!has_neighbour(towards)) return tile;
  tile.direction_ = &at(towards);
  const detail::PortRegion& region = region_of(view, towards.code());
  tile.part_ = detail::PortPart(region, box.begin, box.end);
  tile.remote_ = region.remote;
  tile.all_cells_ = tile.direction_->cells;
  return tile;
}

template <class Team>
KOKKOS_FUNCTION bool HaloPort::Launch::put(const Team& team, int view, const Box& box,
                                           std::uint64_t step) const {
  if (port_.keeps_to_itself(box)) return true;
  if (!may_put_) return false;
  std::uint32_t codes = 0;
  for (int code = 0; code < detail::direction_codes; ++code) {
    if ((port_.present_ >> code & 1) == 0) continue;
    if (detail::PortPart(port_.region_of(view, code), box.begin, box.end).cells() > 0) codes |= 1U << code;
  }
  if (!wait_credits(team, codes, step)) return false;
  for (int code = 0; code < detail::direction_codes; ++code) {
    if ((codes >> code & 1) != 0)
      detail::PortPart(port_.region_of(view, code), box.begin, box.end).copy(team);
  }
  team.team_barrier();
  // Side by side: each release waits for this team's stores to be performed.
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, int{detail::direction_codes}), [&](int code) {
    if ((codes >> code & 1) == 0) return;
    const detail::PortRegion& region = port_.region_of(view, code);
    const detail::PortPart part(region, box.begin, box.end);
    detail::PortDirection& direction = port_.directions_[code];
    count_cells(direction, *region.remote, direction.cells, part.cells(), step);
  });
  return true;
}

template <class Team, class... Tiles>
KOKKOS_FUNCTION bool HaloPort::Launch::put_tiles(const Team& team, std::uint64_t step,
                                                 const Tiles&... tiles) const {
  const std::uint32_t codes = (0U | ... | port_.bit_of(tiles));
  if (!may_put_ || !wait_credits(team, codes, step)) return false;
  ((tiles.cells() > 0 ? tiles.part_.copy(team) : void()), ...);
  fire_tiles(team, step, tiles...);
  return true;
}

template <class Team, class... Tiles>
KOKKOS_FUNCTION void HaloPort::Launch::fire_tiles(const Team& team, std::uint64_t step,
                                                  const Tiles&... tiles) const {
  team.team_barrier();
  if (!may_put_) return;
  if ((tiles.is_whole() && ...)) {
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      // Publishes to all these neighbours: the cells that this team stored.
      detail::publish();
      ((tiles.cells() > 0 ? detail::publish_epoch(tiles.remote_->arrived, base_ + step) : void()), ...);
    });
    return;
  }
  // Threads of different warps: each release waits for this team's stores to be performed.
  constexpr int warp = 32;
  int releasing = 0;
  const auto release = [&](const Tile& tile) {
    if (tile.cells() > 0 && team.team_rank() == releasing % team.team_size()) {
      Kokkos::single(Kokkos::PerThread(team), [&] {
        count_cells(*tile.direction_, *tile.remote_, tile.all_cells_, tile.cells(), step);
      });
    }
    releasing += warp;
  };
  (release(tiles), ...);
}

template <class Team>
KOKKOS_FUNCTION bool HaloPort::Launch::wait_any_of(const Team& team, std::uint32_t codes,
                                                   std::uint64_t step) const {
  bool arrived = true;
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, int{detail::direction_codes}), [&](int code) {
    if ((codes >> code & 1) != 0) arrived = await_code(code, step) && arrived;
  });
  return detail::all_of_team(team, arrived);
}

template <class Team>
KOKKOS_FUNCTION bool HaloPort::Launch::wait_credits(const Team& team, std::uint32_t codes,
                                                    std::uint64_t step) const {
  if (!port_.guarded_ && base_ + step != 1) return true;
  bool free = true;
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, int{detail::direction_codes}), [&](int code) {
    if ((codes >> code & 1) != 0) free = await_credit_code(code, step) && free;
  });
  return detail::all_of_team(team, free);
}

KOKKOS_INLINE_FUNCTION void HaloPort::Launch::count_cells(detail::PortDirection& direction,
                                                          detail::PortFlags& remote, std::uint64_t all,
                                                          std::uint64_t cells, std::uint64_t step) const {
  if (!may_put_) return;
  const std::uint64_t epoch = base_ + step;
  std::uint64_t counted = cells;
  if (cells != all) {
    std::uint64_t& counter = direction.counted[epoch % 2];
    counted = detail::count_in(counter, cells);
    if (counted == all) counter = 0;
  }
  if (counted > all) report(detail::Fault::surplus, direction.rank, all, counted);
  // Publishes to the neighbour: all cells of this epoch, by this thread's team and those counted before it.
  if (counted == all) detail::release_epoch(remote.arrived, epoch);
}

KOKKOS_INLINE_FUNCTION bool HaloPort::Launch::await_code(int code, std::uint64_t step) const {
  const detail::PortDirection& direction = port_.directions_[code];
  // Acquires the neighbour's stores to this rank's ghosts.
  return !direction.receives ||
         await_flag(direction.own->arrived, base_ + step, direction.rank, detail::Fault::arrival_late);
}

KOKKOS_INLINE_FUNCTION bool HaloPort::Launch::await_credit_code(int code, std::uint64_t step) const {
  const detail::PortDirection& direction = port_.directions_[code];
  if (!direction.awaits_credit && base_ + step != 1) return true;
  // Acquires that the neighbour is past its reads of what is to be overwritten.
  return await_flag(direction.own->credit, base_ + step, direction.rank, detail::Fault::credit_late);
}

KOKKOS_INLINE_FUNCTION bool HaloPort::Launch::await_flag(const detail::Flag& flag, std::uint64_t wanted,
                                                         int rank, detail::Fault::Kind if_late) const {
  int polls_per_look = 64;
  // A yield may last a time slice of each thread that shares the core.
  KOKKOS_IF_ON_HOST((polls_per_look = 8;))
  const auto has_come = [&] { return detail::has_reached(detail::acquire_epoch(flag), wanted); };
  const auto has_failed = [&] { return detail::acquire_word(port_.state_->failed) != 0; };
  // Or each wait of each later launch would yield in vain. A GPU's polls cost nothing beside that look.
  KOKKOS_IF_ON_HOST((if (!has_come() && has_failed()) return false;))
  std::uint64_t start = 0;
  while (true) {
    for (int poll = 0; poll < polls_per_look; ++poll) {
      if (has_come()) return true;
      if (port_.yields_) detail::yield_core();
    }
    const std::uint64_t now = detail::clock_ns();
    if (start == 0) start = now;
    if (has_failed()) return false;
    if (now - start <= port_.timeout_ns_) continue;
    if (has_come()) return true;  // while this thread had no core
    report(if_late, rank, wanted, detail::acquire_epoch(flag));
    return false;
  }
}

KOKKOS_INLINE_FUNCTION void HaloPort::Launch::report(detail::Fault::Kind kind, int rank, std::uint64_t wanted,
                                                     std::uint64_t seen) const {
  if (detail::count_in(port_.state_->failed, 1) != 1) return;
  port_.fault_->rank = static_cast<std::uint64_t>(rank);
  port_.fault_->wanted = wanted;
  port_.fault_->seen = seen;
  // Publishes to the host: the description above.
  detail::release_word(port_.fault_->kind, kind);
}

namespace detail {

/// One team that waits for the ghosts of the last launch.
struct AwaitGhosts {
  HaloPort port;
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    (void)port.wait_only().wait_all(team, 0);
  }
};

}  // namespace detail

}  // namespace selvage
