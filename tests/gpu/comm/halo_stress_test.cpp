#include "device_torus.hpp"
#include "rounds.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>

namespace selvage::test {
namespace {

/// Keeps a device busy. A functor, since a lambda whose body differs between host and device captures differently.
struct Spin {
  long long cycles;
  KOKKOS_FUNCTION void operator()(int) const {
    KOKKOS_IF_ON_DEVICE((const long long begin = clock64(); while (clock64() - begin < cycles) continue;))
  }
};

/// Makes a rank late now and then, on the host or on the device, on either side of what it does.
class Delays {
 public:
  explicit Delays(int rank) : engine_(rank + 1) {}

  void maybe(const Kokkos::Cuda& space) {
    const unsigned dice = engine_();
    if (dice % 64 == 0) sched_yield();
    if (dice % 16 != 1) return;
    const auto cycles = static_cast<long long>(dice / 16 % 50'000);
    Kokkos::parallel_for("test::delay", Kokkos::RangePolicy<Kokkos::Cuda>(space, 0, 1), Spin{cycles});
  }

 private:
  std::minstd_rand engine_;
};

struct Load {
  TorusCase torus;
  Initiation initiation;
  int most_rounds = std::numeric_limits<int>::max();
};

class DeviceStress : public testing::TestWithParam<Load> {};

INSTANTIATE_TEST_SUITE_P(
    EveryTransport, DeviceStress,
    testing::Values(Load{{Transport::peer, GhostReuse::credit, false}, Initiation::stream},
                    Load{{Transport::peer, GhostReuse::alternating, false}, Initiation::stream},
                    Load{{Transport::peer, GhostReuse::alternating, true}, Initiation::host, 10'000},
                    Load{{Transport::copy_engine, GhostReuse::credit, false}, Initiation::stream},
                    Load{
                        {Transport::copy_engine, GhostReuse::alternating, true}, Initiation::stream, 10'000}),
    [](const testing::TestParamInfo<Load>& info) {
      return info.param.torus.name() + "_" + std::string(to_string(info.param.initiation));
    });

TEST_P(DeviceStress, KeepsGhostsExactWhoeverIsLate) {
  const Context context(MPI_COMM_WORLD);
  const Load& load = GetParam();
  const DeviceTorus torus(context, load.torus);
  const Kokkos::Cuda space;
  HaloExchange halo = torus.plan(space, load.torus, load.initiation);
  // Ranks that share a GPU take turns on it by time slices of milliseconds.
  const int rounds =
      stress_rounds(shares_a_gpu(context) ? std::min(load.most_rounds, 100'000) / 200 : load.most_rounds);
  Delays delays(context.rank());
  for (int round = 0; round < rounds; ++round) {
    const auto& field = torus.view(round);
    torus.enqueue_fill(space, field);
    delays.maybe(space);
    auto pending = halo.start(space, field);
    delays.maybe(space);
    halo.finish(space, std::move(pending));
    delays.maybe(space);
    torus.enqueue_check(space, field);
  }
  space.fence();
  EXPECT_NO_THROW(halo.check());
  EXPECT_EQ(torus.wrong(), 0);
  EXPECT_EQ(torus.rounds(), rounds);
}

}  // namespace
}  // namespace selvage::test
