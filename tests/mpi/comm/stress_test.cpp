#include "delays.hpp"
#include "job.hpp"
#include "rounds.hpp"

#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace selvage::test {
namespace {

// Compares on the host after each exchange, so the Views must be reachable there.
using Space = Kokkos::DefaultHostExecutionSpace;

struct Load {
  std::string name;
  Transport transport;
  GhostReuse reuse;
  int most_rounds = std::numeric_limits<int>::max();
  std::optional<Initiation> initiation = std::nullopt;
};

/// A ghost, and the number in the whole grid of the cell that it shows.
struct Ghost {
  std::int64_t index;
  std::int64_t cell;
};

/// A grid, and Views whose elements are counted in one row.
template <int D>
class Torus {
 public:
  Torus(const Context& context, const std::array<std::int64_t, D>& cells, const Width<D>& width)
      : grid_(context, {.cells = cells, .periodic = all_true()}), width_(width) {
    visit([&](std::int64_t index, std::int64_t cell, bool owned) {
      (owned ? owned_ : ghosts_).push_back({index, cell});
    });
  }

  [[nodiscard]] const Grid<D>& grid() const { return grid_; }
  [[nodiscard]] const std::vector<Ghost>& owned() const { return owned_; }
  [[nodiscard]] const std::vector<Ghost>& ghosts() const { return ghosts_; }
  [[nodiscard]] auto allocate() const {
    return grid_.template allocate<double, Kokkos::LayoutRight, Kokkos::HostSpace>("u", width_);
  }

 private:
  static std::array<bool, D> all_true() {
    std::array<bool, D> flags{};
    flags.fill(true);
    return flags;
  }

  template <class Function>
  void visit(const Function& function) const {
    const Box<D> box = grid_.box();
    std::array<std::int64_t, 2> extents{1, 1};
    for (int axis = 0; axis < D; ++axis)
      extents[axis] = box.extent(axis) + width_[axis].low + width_[axis].high;
    for (std::int64_t index = 0; index < extents[0] * extents[1]; ++index) {
      const std::array at{index / extents[1], index % extents[1]};
      bool owned = true;
      std::int64_t number = 0;
      for (int axis = 0; axis < D; ++axis) {
        const std::int64_t local = at[axis] - width_[axis].low;
        owned = owned && local >= 0 && local < box.extent(axis);
        const std::int64_t all = grid_.cells()[axis];
        number = number * all + ((box.begin[axis] + local) % all + all) % all;
      }
      function(index, number, owned);
    }
  }

  Grid<D> grid_;
  Width<D> width_;
  std::vector<Ghost> owned_;
  std::vector<Ghost> ghosts_;
};

double value_of(std::int64_t cell, int round) {
  return static_cast<double>(round) * 1000.0 + static_cast<double>(cell);
}

class Stress : public testing::TestWithParam<Load> {
 protected:
  /// Exchanges two Views in turn with new values each time. \return how many ghosts were wrong on this rank
  template <int D>
  std::int64_t run(const Torus<D>& torus) const {
    const Load& load = GetParam();
    const std::array views{torus.allocate(), torus.allocate()};
    HaloExchange halo(Space(), torus.grid(),
                      {.width = width<D>(),
                       .ghost_reuse = load.reuse,
                       .transport = load.transport,
                       .initiation = load.initiation},
                      views[0], views[1]);
    Delays delays(torus.grid().rank(), 4096);
    std::int64_t wrong = 0;
    const int rounds = stress_rounds(load.most_rounds);
    for (int round = 0; round < rounds; ++round) {
      const auto& view = views[round % 2];
      double* data = view.data();
      for (const Ghost& owned : torus.owned()) data[owned.index] = value_of(owned.cell, round);
      delays.maybe();
      auto pending = halo.start(Space(), view);
      delays.maybe();
      halo.finish(Space(), std::move(pending));
      delays.maybe();
      for (const Ghost& ghost : torus.ghosts()) {
        if (data[ghost.index] != value_of(ghost.cell, round)) ++wrong;
        data[ghost.index] = -1.0;
      }
    }
    return wrong;
  }

  template <int D>
  static Width<D> width() {
    if constexpr (D == 1) {
      return 16;
    } else {
      return 1;
    }
  }
};

TEST_P(Stress, KeepsGhostsExactInASmallTorus) {
  const Context context(MPI_COMM_WORLD);
  const int size = context.size();
  EXPECT_EQ(run<2>(Torus<2>(context, {4 * size, 5}, width<2>())), 0);
}

TEST_P(Stress, KeepsGhostsExactInARingOfLongRuns) {
  const Context context(MPI_COMM_WORLD);
  EXPECT_EQ(run<1>(Torus<1>(context, {20 * context.size()}, width<1>())), 0);
}

std::string name_of_load(const testing::TestParamInfo<Load>& tested) {
  return tested.param.name;
}

const std::vector<Load> every_load{
    {"peer_credit", Transport::peer, GhostReuse::credit},
    {"peer_alternating", Transport::peer, GhostReuse::alternating},
    {"mpi_direct", Transport::mpi_direct, GhostReuse::credit, 10'000},
    {"mpi_staged", Transport::mpi_staged, GhostReuse::alternating, 10'000},
    {"peer_queue", Transport::peer, GhostReuse::credit, 1'000, Initiation::queue},
    {"peer_kernel", Transport::peer, GhostReuse::credit, 1'000, Initiation::kernel},
    {"mpi_queue", Transport::mpi_direct, GhostReuse::credit, 1'000, Initiation::queue},
    {"mpi_kernel", Transport::mpi_direct, GhostReuse::credit, 1'000, Initiation::kernel}};

/// Peers are ranks of one host; all else must run everywhere.
bool must_run(const Load& load) {
  return load.transport != Transport::peer || this_job().is_on_one_host();
}
INSTANTIATE_TEST_SUITE_P(EveryTransport, Stress, testing::ValuesIn(cases_where(every_load, must_run)),
                         name_of_load);

/// On the host, also where there are GPUs.
TEST(StressLoads, AreAsManyAsStated) {
  const LeastCases least{
      .on_one_host = 8, .on_several_hosts = 4, .on_gpus_of_one_host = 8, .on_gpus_of_several_hosts = 4};
  EXPECT_GE(cases_where(every_load, must_run).size(), least.here(false));
}

}  // namespace
}  // namespace selvage::test
