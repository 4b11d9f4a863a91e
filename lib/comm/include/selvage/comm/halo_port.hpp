#pragma once

#include <selvage/comm/detail/port_copy.hpp>
#include <selvage/comm/detail/port_table.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace selvage {

/// The handle through which a kernel sends its own boundary and waits for its ghosts: HaloExchange::device()
/// makes it, kernels copy it. It is small and trivially copyable, and valid as long as its HaloExchange.
///
/// Triggered operations in direct form (LeBeane, thesis ch. 6): the put is fused into the kernel. A direction
/// is an operation registered beforehand; its threshold is the number of cells that the neighbour keeps; every
/// put counts its cells, and the one that completes them releases the neighbour's flag.
///
/// Towards neighbours whose memory can't be mapped the same stores go to a packed block and a flag of this rank,
/// and the proxy does the rest (proxy form: src/halo/port_relay.hpp). Kernels, bits and faults are the same.
///
/// A launch begins with open() and ends with close() on every team, and makes one step or several. A step puts
/// every cell of one View that a neighbour keeps, exactly once. All ranks make the same steps.
class HaloPort {
 public:
  class Launch;

  /// The neighbour in a direction: -1, 0 or 1 per axis of the grid.
  struct Towards {
    int axis0 = 0;
    int axis1 = 0;
    int axis2 = 0;
    [[nodiscard]] KOKKOS_FUNCTION constexpr int code() const {
      return (axis0 + 1) + 3 * (axis1 + 1) + 9 * (axis2 + 1);
    }
  };

  /// Cells of a View, by its indices: begin inclusive, end exclusive. Axes that the grid doesn't have are left
  /// out.
  struct Box {
    std::int64_t begin[detail::port_axes] = {0, 0, 0, 0};
    std::int64_t end[detail::port_axes] = {1, 1, 1, 1};
  };

  /// Where a neighbour keeps its ghosts of this rank's cells, to be stored through by this rank's own indices,
  /// never read.
  template <class T>
  class Ghosts {
   public:
    KOKKOS_FUNCTION T& operator()(std::int64_t i, std::int64_t j = 0, std::int64_t k = 0,
                                  std::int64_t component = 0) const {
      return *reinterpret_cast<T*>(origin_ + i * strides_[0] + j * strides_[1] + k * strides_[2] +
                                   component * strides_[3]);
    }

   private:
    friend class HaloPort;
    std::byte* origin_ = nullptr;
    std::int64_t strides_[detail::port_axes] = {};  ///< bytes, by View axis
  };

  /// The cells of one View that a team sends to one neighbour in every step: found once, before the steps.
  class Tile {
   public:
    [[nodiscard]] KOKKOS_FUNCTION std::uint64_t cells() const { return part_.cells(); }

   private:
    friend class HaloPort;
    detail::PortPart part_;
    detail::PortDirection* direction_ = nullptr;
    detail::PortFlags* remote_ = nullptr;
    std::uint64_t all_cells_ = 0;  ///< of the direction

    /// Whether there are no others to count with.
    [[nodiscard]] KOKKOS_FUNCTION bool is_whole() const { return cells() == all_cells_ || cells() == 0; }
  };

  /// Every team calls it first. Tells the neighbours that earlier launches on the instance have finished
  /// reading ghosts.
  template <class Team>
  [[nodiscard]] KOKKOS_FUNCTION Launch open(const Team& team) const;

  /// A launch that only waits: for kernels between the launches that put. Gives no credits and is not closed.
  [[nodiscard]] KOKKOS_FUNCTION Launch wait_only() const;

  /// Whether a wait has failed, in this launch or an earlier one. Nothing may be put after that, because neighbours would take
  /// it for the cells of a later step. A Launch from open() checks this itself; kernels without one must ask.
  [[nodiscard]] KOKKOS_FUNCTION bool has_failed() const { return detail::load_relaxed(state_->failed) != 0; }

  [[nodiscard]] KOKKOS_FUNCTION bool has_neighbour(Towards towards) const {
    return (present_ >> towards.code() & 1) != 0;
  }
  /// Cells that one step puts in a direction.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t cells(Towards towards) const {
    return has_neighbour(towards) ? at(towards).cells : 0;
  }
  /// Where the neighbour keeps its ghosts of View number `view` (in the order of device()'s arguments), or the
  /// block that goes there: for kernels that store by themselves and then fire() what they stored. Null where
  /// there is no neighbour.
  template <class T>
  [[nodiscard]] KOKKOS_FUNCTION Ghosts<T> remote_ghosts(int view, Towards towards) const {
    Ghosts<T> ghosts;
    if (!has_neighbour(towards)) return ghosts;
    const detail::PortRegion& region = region_of(view, towards.code());
    ghosts.origin_ = region.target;
    for (int axis = 0; axis < detail::port_axes; ++axis)
      ghosts.strides_[axis] = region.target_strides[region.sorted_axes[axis]];
    return ghosts;
  }
  /// Those cells of `box` that the neighbour keeps, to be put without looking for them again; none where there
  /// is no neighbour.
  [[nodiscard]] KOKKOS_FUNCTION Tile tile(int view, Towards towards, const Box& box) const;

 private:
  friend class detail::PortPlan;

  [[nodiscard]] KOKKOS_FUNCTION detail::PortDirection& at(Towards towards) const {
    return directions_[towards.code()];
  }
  [[nodiscard]] KOKKOS_FUNCTION const detail::PortRegion& region_of(int view, int code) const {
    return regions_[view * detail::direction_codes + code];
  }

  /// Whether no neighbour keeps a cell of the box.
  [[nodiscard]] KOKKOS_FUNCTION bool keeps_to_itself(const Box& box) const {
    for (int axis = 0; axis < 3; ++axis) {
      if (box.begin[axis] < inner_begin_[axis] || box.end[axis] > inner_end_[axis]) return false;
    }
    return true;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t bit_of(const Tile& tile) const {
    return tile.cells() > 0 ? 1U << static_cast<int>(tile.direction_ - directions_) : 0U;
  }

  const detail::PortRegion* regions_ = nullptr;  ///< by View, then direction code
  detail::PortDirection* directions_ = nullptr;  ///< by direction code
  detail::PortState* state_ = nullptr;
  detail::Fault* fault_ = nullptr;
  std::uint64_t timeout_ns_ = 0;
  std::uint32_t present_ = 0;  ///< a bit per direction code that has a neighbour
  bool yields_ = false;
  bool guarded_ = true;  ///< some direction awaits credits
  /// Cells that no neighbour keeps.
  std::int64_t inner_begin_[3] = {};
  std::int64_t inner_end_[3] = {};
};

/// A port during one launch. Steps count from 1; step 0 is the last step of the launch before.
class HaloPort::Launch {
 public:
  /// Stores those cells of `box` that neighbours keep as ghosts into the neighbours' Views, and fires each
  /// direction whose cells are complete. Called by all threads of a team; the boxes of a step's puts don't
  /// overlap and hold every boundary cell. With GhostReuse::alternating the team has waited for its ghosts of
  /// the step before, in every direction it puts to.
  /// \return false when a credit came too late, which HaloExchange::check() reports, and after launches that failed
  template <class Team>
  KOKKOS_FUNCTION bool put(const Team& team, int view, const Box& box, std::uint64_t step = 1) const;
  /// The same for tiles: the quickest form, in launches of many steps.
  template <class Team, class... Tiles>
  KOKKOS_FUNCTION bool put_tiles(const Team& team, std::uint64_t step, const Tiles&... tiles) const;

  /// For tiles whose cells this team stored through remote_ghosts().
  template <class Team, class... Tiles>
  KOKKOS_FUNCTION void fire_tiles(const Team& team, std::uint64_t step, const Tiles&... tiles) const;
  /// For cells of a View that this team stored through remote_ghosts(): counts them, and fires the direction
  /// when they complete it.
  template <class Team>
  KOKKOS_FUNCTION void fire(const Team& team, int view, Towards towards, std::uint64_t cells,
                            std::uint64_t step = 1) const {
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] { count(view, towards, cells, step); });
  }

  /// Waits until the ghosts of a direction hold what the neighbour put in its step of that number; true at
  /// once where there is no neighbour. Called by all threads of a team. On a device the whole league has to be
  /// resident, on a host the cells that the neighbour waits for have to be put before.
  /// \return false when the time is up, which HaloExchange::check() reports
  template <class Team>
  KOKKOS_FUNCTION bool wait(const Team& team, Towards towards, std::uint64_t step) const {
    return !port_.has_neighbour(towards) || wait_any_of(team, 1U << towards.code(), step);
  }
  /// The same for all directions.
  template <class Team>
  KOKKOS_FUNCTION bool wait_all(const Team& team, std::uint64_t step) const {
    return wait_any_of(team, port_.present_, step);
  }

  /// Every team calls it last, with the number of steps that the launch made.
  template <class Team>
  KOKKOS_FUNCTION void close(const Team& team, std::uint64_t steps = 1) const {
    Kokkos::single(Kokkos::PerTeam(team), [&] { close_one_of(team.league_size(), steps); });
  }

  /// Waits until all neighbours' ghosts may be overwritten in the launch's first step: for kernels that store
  /// through remote_ghosts(); puts wait by themselves. Called by all threads of a team.
  /// \return false when the time is up
  template <class Team>
  KOKKOS_FUNCTION bool wait_for_credits(const Team& team) const {
    return wait_credits(team, port_.present_, 1);
  }

  // The same for a single thread, in kernels that synchronise their threads themselves.

  /// Counts cells that this thread has stored, or has seen stored through a barrier.
  KOKKOS_FUNCTION void count(int view, Towards towards, std::uint64_t cells, std::uint64_t step) const {
    if (!port_.has_neighbour(towards) || cells == 0) return;
    detail::PortDirection& direction = port_.at(towards);
    count_cells(direction, *port_.region_of(view, towards.code()).remote, direction.cells, cells, step);
  }
  KOKKOS_FUNCTION void count(const Tile& tile, std::uint64_t step) const {
    if (tile.cells() > 0) count_cells(*tile.direction_, *tile.remote_, tile.all_cells_, tile.cells(), step);
  }
  /// Polls until the step's ghosts are here. \return false when the time is up
  KOKKOS_FUNCTION bool await(Towards towards, std::uint64_t step) const {
    return !port_.has_neighbour(towards) || await_code(towards.code(), step);
  }
  /// Waits until the neighbour's ghosts may be overwritten. \return false when the time is up
  KOKKOS_FUNCTION bool await_credit(Towards towards, std::uint64_t step) const {
    return !port_.has_neighbour(towards) || await_credit_code(towards.code(), step);
  }
  /// Tells the neighbour that this rank no longer reads the ghosts that `step` will overwrite: for launches of
  /// several steps that exchange one View, or only one way.
  KOKKOS_FUNCTION void give_credit(Towards towards, std::uint64_t step) const {
    if (port_.has_neighbour(towards) && port_.at(towards).receives)
      detail::release_epoch(port_.at(towards).remote->credit, base_ + step);
  }
  /// One of `all` callers per launch.
  KOKKOS_FUNCTION void close_one_of(std::uint64_t all, std::uint64_t steps) const {
    // The kernel's end publishes the epoch to the next launch.
    if (detail::is_last_of(port_.state_->closed, all)) port_.state_->epoch = base_ + steps;
  }

 private:
  friend class HaloPort;
  KOKKOS_FUNCTION Launch(const HaloPort& port, std::uint64_t base, bool may_put)
      : port_(port), base_(base), may_put_(may_put) {}

  template <class Team>
  KOKKOS_FUNCTION bool wait_any_of(const Team& team, std::uint32_t codes, std::uint64_t step) const;
  template <class Team>
  KOKKOS_FUNCTION bool wait_credits(const Team& team, std::uint32_t codes, std::uint64_t step) const;
  KOKKOS_FUNCTION void count_cells(detail::PortDirection& direction, detail::PortFlags& remote,
                                   std::uint64_t all, std::uint64_t cells, std::uint64_t step) const;
  KOKKOS_FUNCTION bool await_code(int code, std::uint64_t step) const;
  KOKKOS_FUNCTION bool await_credit_code(int code, std::uint64_t step) const;
  KOKKOS_FUNCTION bool await_flag(const detail::Flag& flag, std::uint64_t wanted, int rank,
                                  detail::Fault::Kind if_late) const;
  KOKKOS_FUNCTION void report(detail::Fault::Kind kind, int rank, std::uint64_t wanted,
                              std::uint64_t seen) const;

  HaloPort port_;
  std::uint64_t base_;
  bool may_put_;  ///< no launch before has failed: a graph may go on to be replayed
};

static_assert(std::is_trivially_copyable_v<HaloPort> && sizeof(HaloPort) <= 256,
              "Kokkos makes the host wait for kernels whose functors are large");

}  // namespace selvage

#include <selvage/comm/detail/halo_port_launch.hpp>
