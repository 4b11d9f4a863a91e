#include "edge_steps.hpp"

#include <fmt/format.h>

namespace selvage::bench {
namespace {

using Space = EdgeRows::Space;
using View = EdgeRows::View;
using Stamps = EdgeRows::Stamps;
using Policy = Kokkos::TeamPolicy<Space>;
using Member = Policy::member_type;

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;
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

/// Steps without a launch between them. Columns have no ghosts: a row is contiguous.
struct Steps {
  HaloPort port;
  View u, v;
  std::uint64_t value;
  std::uint64_t steps;
  bool begins_with_u;
  Stamps stamps;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto turn = port.open(team);
    const auto columns = static_cast<std::int64_t>(u.extent(1));
    for (std::uint64_t step = 1; step <= steps; ++step) {
      const Stamps& now = step == steps ? stamps : Stamps{};
      const bool is_u = (step % 2 != 0) == begins_with_u;
      stamp(team, now, 0);
      write(team, is_u ? u : v, static_cast<double>(value + step));
      team.team_barrier();
      stamp(team, now, 1);
      turn.put(team, is_u ? 0 : 1, {.begin = {1, 0, 0}, .end = {rows_per_rank + 1, columns, 1}}, step);
      stamp(team, now, 2);
      if (!turn.wait_all(team, step)) break;
      stamp(team, now, 3);
    }
    turn.close(team, steps);
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
      u(grid.allocate<double, Kokkos::LayoutRight>("u", {Side{1, 1}, Side{0, 0}})),
      v(grid.allocate<double, Kokkos::LayoutRight>("v", {Side{1, 1}, Side{0, 0}})) {}

HaloExchange EdgeRows::alternating() const {
  return {space,
          grid,
          {.width = {Side{1, 1}, Side{0, 0}}, .corners = false, .ghost_reuse = GhostReuse::alternating},
          u,
          v};
}

std::shared_ptr<HaloExchange> EdgeRows::exchange_over(Transport transport, Initiation initiation) const {
  const HaloOptions<2> options{.width = {Side{1, 1}, Side{0, 0}},
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

void EdgeRows::launch_steps(const HaloPort& port, int steps, const Stamps& stamps) {
  Kokkos::parallel_for("bench::steps", Policy(space, 1, team_size),
                       Steps{port, u, v, value_, static_cast<std::uint64_t>(steps), turns_ % 2 == 0, stamps});
  value_ += static_cast<std::uint64_t>(steps);
  turns_ += static_cast<std::uint64_t>(steps);
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
