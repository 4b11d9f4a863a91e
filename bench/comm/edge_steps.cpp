#include "edge_steps.hpp"

#include "../support/on_host.hpp"

#include <fmt/format.h>

namespace selvage::bench {
namespace {

using Space = EdgeRows::Space;
using View = EdgeRows::View;
using Stamps = EdgeRows::Stamps;
// The bound on registers that makes teams of 512 fit.
using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<512, 1>>;
using Member = Policy::member_type;

constexpr int team_size = on_host ? 1 : 512;
constexpr std::int64_t rows_per_rank = 2;

KOKKOS_FUNCTION void stamp(const Member& team, const Stamps& stamps, int stage) {
  if (stamps.data() == nullptr) return;
  team.team_barrier();
  Kokkos::single(Kokkos::PerTeam(team), [&] { stamps(stage) = detail::clock_ns(); });
}

KOKKOS_FUNCTION void write(const Member& team, const View& row, double value) {
  const auto columns = static_cast<std::int64_t>(row.extent(1));
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, columns), [&](std::int64_t j) {
    row(1, j) = value;
    row(rows_per_rank, j) = value;
  });
}

struct WriteEdges {
  View row;
  double value;
  Stamps stamps;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    stamp(team, stamps, 0);
    write(team, row, value);
    stamp(team, stamps, 1);
  }
};

/// One View's rows, and how they get to the neighbours. Columns have no ghosts: a row is contiguous.
struct Rows {
  View row;
  HaloPort::Tile low_tile, high_tile;
  HaloPort::Ghosts<double> low, high;
  bool sends_low, sends_high;

  KOKKOS_FUNCTION Rows(const HaloPort& port, const View& view, int number)
      : row(view),
        low_tile(port.tile(number, low_side, box(1))),
        high_tile(port.tile(number, high_side, box(rows_per_rank))),
        low(port.remote_ghosts<double>(number, low_side)),
        high(port.remote_ghosts<double>(number, high_side)),
        sends_low(port.has_neighbour(low_side)),
        sends_high(port.has_neighbour(high_side)) {}

  [[nodiscard]] KOKKOS_FUNCTION HaloPort::Box box(std::int64_t index) const {
    return {.begin = {index, 0}, .end = {index + 1, static_cast<std::int64_t>(row.extent(1)), 1, 1}};
  }

  KOKKOS_FUNCTION void put(const Member& team, const HaloPort::Launch& turn, std::uint64_t step) const {
    turn.put_tiles(team, step, low_tile, high_tile);
  }

  /// Writes here and there.
  KOKKOS_FUNCTION void store(const Member& team, double value) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, static_cast<std::int64_t>(row.extent(1))),
                         [&](std::int64_t j) {
                           row(1, j) = value;
                           row(rows_per_rank, j) = value;
                           if (sends_low) low(1, j) = value;
                           if (sends_high) high(rows_per_rank, j) = value;
                         });
  }

  KOKKOS_FUNCTION void fire(const Member& team, const HaloPort::Launch& turn, std::uint64_t step) const {
    turn.fire_tiles(team, step, low_tile, high_tile);
  }

  static constexpr HaloPort::Towards low_side{-1};
  static constexpr HaloPort::Towards high_side{1};
};

/// Steps without a launch between them.
template <EdgeRows::Send send>
struct Steps {
  HaloPort port;
  View u, v;
  std::uint64_t value;
  std::uint64_t steps;
  bool begins_with_u;
  Stamps stamps;

  KOKKOS_FUNCTION void step(const Member& team, const HaloPort::Launch& turn, const Rows& rows,
                            std::uint64_t number) const {
    const Stamps& now = number == steps ? stamps : Stamps{};
    const auto written = static_cast<double>(value + number);
    stamp(team, now, 0);
    if constexpr (send == EdgeRows::Send::put) {
      write(team, rows.row, written);
      team.team_barrier();
      stamp(team, now, 1);
      rows.put(team, turn, number);
    } else {
      rows.store(team, written);
      stamp(team, now, 1);
      rows.fire(team, turn, number);
    }
    stamp(team, now, 2);
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto turn = port.open(team);
    const Rows first(port, begins_with_u ? u : v, begins_with_u ? 0 : 1);
    const Rows second(port, begins_with_u ? v : u, begins_with_u ? 1 : 0);
    turn.wait_for_credits(team);
    for (std::uint64_t number = 1; number <= steps; ++number) {
      if (number % 2 != 0) {
        step(team, turn, first, number);
      } else {
        step(team, turn, second, number);
      }
      if (!turn.wait_all(team, number)) break;
      stamp(team, number == steps ? stamps : Stamps{}, 3);
    }
    turn.close(team, steps);
  }
};

/// Nothing but the send and the wait lies between a rank's message and the answer to it.
template <EdgeRows::Send send>
struct RoundTrips {
  HaloPort port;
  View u, v;
  std::uint64_t value;
  std::uint64_t steps;
  bool begins_with_u;
  bool answers;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto turn = port.open(team);
    const Rows first(port, begins_with_u ? u : v, begins_with_u ? 0 : 1);
    const Rows second(port, begins_with_u ? v : u, begins_with_u ? 1 : 0);
    turn.wait_for_credits(team);
    prepare(team, first, 1);
    for (std::uint64_t number = 1; number <= steps; ++number) {
      const bool is_odd = number % 2 != 0;
      if (answers && !turn.wait_all(team, number)) break;
      message(team, turn, is_odd ? first : second, number);
      if (number < steps) prepare(team, is_odd ? second : first, number + 1);
      if (!answers && !turn.wait_all(team, number)) break;
    }
    turn.close(team, steps);
  }

  [[nodiscard]] KOKKOS_FUNCTION double written(std::uint64_t number) const {
    return static_cast<double>(value + number);
  }
  /// What is put has been written before; what is stored needs nothing.
  KOKKOS_FUNCTION void prepare(const Member& team, const Rows& rows, std::uint64_t number) const {
    if constexpr (send == EdgeRows::Send::put) {
      write(team, rows.row, written(number));
      team.team_barrier();
    }
  }
  KOKKOS_FUNCTION void message(const Member& team, const HaloPort::Launch& turn, const Rows& rows,
                               std::uint64_t number) const {
    if constexpr (send == EdgeRows::Send::put) {
      rows.put(team, turn, number);
    } else {
      rows.store(team, written(number));
      rows.fire(team, turn, number);
    }
  }
};

struct StampArrival {
  Stamps stamps;
  KOKKOS_FUNCTION void operator()(const Member& team) const { stamp(team, stamps, 3); }
};

}  // namespace

EdgeRows::EdgeRows(const Context& context, std::int64_t bytes)
    : grid(context, {.cells = {rows_per_rank * context.size(), bytes / static_cast<int>(sizeof(double))},
                     .ranks = {context.size(), 1}}),
      u(grid.allocate<double, Kokkos::LayoutRight>("u", {{1, 1}, {0, 0}})),
      v(grid.allocate<double, Kokkos::LayoutRight>("v", {{1, 1}, {0, 0}})) {}

HaloExchange EdgeRows::alternating() const {
  return {space,
          grid,
          {.width = {{1, 1}, {0, 0}}, .corners = false, .ghost_reuse = GhostReuse::alternating},
          u,
          v};
}

std::shared_ptr<HaloExchange> EdgeRows::exchange_by_default() const {
  const HaloOptions<2> options{.width = {{1, 1}, {0, 0}}, .corners = false};
  return std::make_shared<HaloExchange>(space, grid, options, u, v);
}

std::shared_ptr<HaloExchange> EdgeRows::exchange_over(Transport transport, Initiation initiation) const {
  const HaloOptions<2> options{.width = {{1, 1}, {0, 0}},
                               .corners = false,
                               .ghost_reuse = GhostReuse::alternating,
                               .transport = transport,
                               .initiation = initiation};
  try {
    return std::make_shared<HaloExchange>(space, grid, options, u, v);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return nullptr;
  }
}

void EdgeRows::write_edges(const View& row, const Stamps& stamps) {
  Kokkos::parallel_for("bench::write", Policy(space, 1, team_size),
                       WriteEdges{row, static_cast<double>(++value_), stamps});
}

void EdgeRows::launch_steps(const HaloPort& port, Send send, int steps, const Stamps& stamps) {
  const Policy policy(space, 1, team_size);
  const auto count = static_cast<std::uint64_t>(steps);
  const bool begins_with_u = turns_ % 2 == 0;
  if (send == Send::put) {
    Kokkos::parallel_for("bench::steps", policy,
                         Steps<Send::put>{port, u, v, value_, count, begins_with_u, stamps});
  } else {
    Kokkos::parallel_for("bench::steps", policy,
                         Steps<Send::store>{port, u, v, value_, count, begins_with_u, stamps});
  }
  value_ += count;
  turns_ += count;
}

void EdgeRows::launch_round_trips(const HaloPort& port, Send send, int steps) {
  const Policy policy(space, 1, team_size);
  const auto count = static_cast<std::uint64_t>(steps);
  const bool begins_with_u = turns_ % 2 == 0;
  const bool answers = grid.rank() % 2 != 0;
  if (send == Send::put) {
    Kokkos::parallel_for("bench::round_trips", policy,
                         RoundTrips<Send::put>{port, u, v, value_, count, begins_with_u, answers});
  } else {
    Kokkos::parallel_for("bench::round_trips", policy,
                         RoundTrips<Send::store>{port, u, v, value_, count, begins_with_u, answers});
  }
  value_ += count;
  turns_ += count;
}

void EdgeRows::stamp_arrival(const Stamps& stamps) {
  Kokkos::parallel_for("bench::arrived", Policy(space, 1, 1), StampArrival{stamps});
}

int EdgeRows::count_wrong(const View& row, double value) const {
  const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), row);
  int wrong = 0;
  for (const int side : {-1, 1}) {
    const std::size_t ghost = side < 0 ? 0 : image.extent(0) - 1;
    const double expected = grid.neighbour({side, 0}) >= 0 ? value : -1.0;
    for (std::size_t j = 0; j < image.extent(1); ++j) wrong += image(ghost, j) != expected ? 1 : 0;
  }
  return wrong;
}

void EdgeRows::verify(const std::string& name, const std::function<void()>& run) {
  for (int round = 0; round < 4; ++round) {
    Kokkos::deep_copy(u, -1.0);
    Kokkos::deep_copy(v, -1.0);
    MPI_Barrier(grid.comm());
    run();
    space.fence("bench::verify");
    const View& last = turns_ % 2 != 0 ? u : v;
    if (count_wrong(last, static_cast<double>(value_)) != 0)
      throw Error(ErrorKind::verification, fmt::format("{} leaves wrong ghosts", name));
    MPI_Barrier(grid.comm());
  }
}

}  // namespace selvage::bench
