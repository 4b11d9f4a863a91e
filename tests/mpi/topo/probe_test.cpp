#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

namespace selvage::topo {
namespace {

TEST(Probe, MeasuresEveryPairAndTellsAllRanks) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Probes probes =
      probe(MPI_COMM_WORLD, {.latency_bytes = 8, .bandwidth_bytes = 100'000, .repetitions = 2});
  ASSERT_EQ(probes.rank_count(), size);
  ASSERT_EQ(probes.pairs.size(), static_cast<std::size_t>(size * (size - 1)));
  for (const ProbedPair& pair : probes.pairs) {
    EXPECT_GT(pair.latency_us, 0) << pair.from << " to " << pair.to;
    EXPECT_GT(pair.gb_per_s, 0) << pair.from << " to " << pair.to;
    EXPECT_GT(pair.gb_per_s_together, 0) << pair.from << " to " << pair.to;
  }
  std::string text = to_json(probes);
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::string of_zero = text;
  of_zero.resize(static_cast<std::size_t>(length));
  MPI_Bcast(of_zero.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(text, of_zero);
  EXPECT_EQ(fabric_from_probes(probes).slot_count(), size);
}

}  // namespace
}  // namespace selvage::topo
