// Particles that drift through a periodic square, cut into one slab per rank: they move to the rank whose slab they
// enter, and each step gathers copies (ghosts) of those near a slab's sides. The lattice drifts as one, so each particle
// has four neighbours at every step.
#include <selvage/comm/list_halo.hpp>
#include <selvage/comm/migration.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
using Positions = Kokkos::View<double* [2], Space::memory_space>;
using Integers = Kokkos::View<std::int64_t*, Space::memory_space>;

constexpr double cutoff = 1.2;  // the lattice constant is 1, the diagonal's neighbours are farther than this
constexpr double drift_x = 0.37, drift_y = 0.11;  // per step

/// The square and this rank's slab of it.
struct Slab {
  double edge;  ///< of the square
  int rank;
  int ranks;

  [[nodiscard]] KOKKOS_FUNCTION double side(int which) const { return edge / ranks * which; }
  [[nodiscard]] KOKKOS_FUNCTION int owner(double x) const {
    return Kokkos::min(static_cast<int>(x / edge * ranks), ranks - 1);
  }
  [[nodiscard]] KOKKOS_FUNCTION double wrapped(double x) const { return x - edge * Kokkos::floor(x / edge); }
};

/// By entry: a particle, the rank that needs a ghost of it, and how far the ghost lies from it.
struct SendList {
  Integers ids, ranks;
  Positions shifts;
};

// --8<-- [start:list]
SendList list_near_sides(const Space& space, const Slab& slab, const Positions& x, std::int64_t owned) {
  const SendList all{Integers("ids", 2 * owned), Integers("ranks", 2 * owned),
                     Positions("shifts", 2 * owned)};
  std::int64_t count = 0;
  Kokkos::parallel_scan(
      "list", Range(space, 0, owned),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & place, bool is_final) {
        for (int step = -1; step <= 1; step += 2) {
          if (Kokkos::abs(x(i, 0) - slab.side(slab.rank + (step + 1) / 2)) >= cutoff) continue;
          const int there = slab.rank + step;
          const int rank = (there + slab.ranks) % slab.ranks;
          if (is_final) {
            all.ids(place) = i;
            all.ranks(place) = rank;
            all.shifts(place, 0) = rank == there ? 0.0 : -step * slab.edge;  // the periodic image's place
          }
          ++place;
        }
      },
      count);
  const auto entries = std::make_pair(std::int64_t{0}, count);
  return {Kokkos::subview(all.ids, entries), Kokkos::subview(all.ranks, entries),
          Kokkos::subview(all.shifts, entries, Kokkos::ALL)};
}
// --8<-- [end:list]

/// How many particles don't have four neighbours among all particles and ghosts.
std::int64_t count_odd_ones(const Space& space, double edge, const Positions& x, std::int64_t owned,
                            std::int64_t all) {
  std::int64_t odd = 0;
  Kokkos::parallel_reduce(
      "neighbours", Range(space, 0, owned),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) {
        int near = 0;
        for (std::int64_t j = 0; j < all; ++j) {
          const double dx = x(j, 0) - x(i, 0), across = x(j, 1) - x(i, 1);
          const double dy = across - edge * Kokkos::round(across / edge);
          if (j != i && dx * dx + dy * dy < cutoff * cutoff) ++near;
        }
        if (near != 4) ++sum;
      },
      odd);
  return odd;
}

void move(const Space& space, const Slab& slab, const Positions& x, const Integers& owners) {
  Kokkos::parallel_for(
      "move", Range(space, 0, static_cast<std::int64_t>(owners.extent(0))), KOKKOS_LAMBDA(std::int64_t i) {
        x(i, 0) = slab.wrapped(x(i, 0) + drift_x);
        x(i, 1) = slab.wrapped(x(i, 1) + drift_y);
        owners(i) = slab.owner(x(i, 0));
      });
}

void make_room(std::int64_t particles, Positions& x) {
  if (particles > static_cast<std::int64_t>(x.extent(0))) Kokkos::resize(x, particles + particles / 8);
}

int run(std::int64_t columns_per_rank, int steps) {
  const Space space;
  const selvage::Context context(MPI_COMM_WORLD);
  const std::int64_t columns = columns_per_rank * context.size();
  const Slab slab{static_cast<double>(columns), context.rank(), context.size()};
  std::int64_t owned = columns_per_rank * columns;
  Positions x("x", owned);
  Kokkos::parallel_for(
      "lattice", Range(space, 0, owned), KOKKOS_LAMBDA(std::int64_t i) {
        x(i, 0) = slab.side(slab.rank) + static_cast<double>(i / columns) + 0.5;
        x(i, 1) = static_cast<double>(i % columns) + 0.5;
      });

  selvage::Migration migration(space, context);
  selvage::ListHalo halo(space, context, 0, Integers(), Integers());
  std::int64_t odd = 0;
  for (int step = 0; step < steps; ++step) {
    // --8<-- [start:migrate]
    const Integers owners("owners", owned);
    move(space, slab, x, owners);
    owned = migration.plan(space, owners);
    make_room(owned, x);
    migration.move(space, x);
    // --8<-- [end:migrate]

    // --8<-- [start:ghosts]
    const SendList list = list_near_sides(space, slab, x, owned);
    halo.rebuild(space, owned, list.ids, list.ranks);
    make_room(owned + halo.ghosts(), x);
    halo.gather(space, selvage::shifted(x, list.shifts));
    // --8<-- [end:ghosts]
    odd += count_odd_ones(space, slab.edge, x, owned, owned + halo.ghosts());
  }
  halo.check();
  std::printf("rank %d: %lld particles, %lld ghosts; %lld times a particle had other than four neighbours\n",
              context.rank(), static_cast<long long>(owned), static_cast<long long>(halo.ghosts()),
              static_cast<long long>(odd));
  return odd == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = EXIT_FAILURE;
  try {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    code = run(6, 50);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drift: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return code;
}
