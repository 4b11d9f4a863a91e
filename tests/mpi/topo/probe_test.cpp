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
  const Probes probes = probe(
      MPI_COMM_WORLD, {.latency_bytes = {1, 2048}, .bandwidth_bytes = {3000, 100'000}, .repetitions = 2});
  ASSERT_EQ(probes.rank_count(), size);
  ASSERT_EQ(probes.pairs.size(), static_cast<std::size_t>(size * (size - 1)));
  for (const ProbedPair& pair : probes.pairs) {
    ASSERT_EQ(pair.latency_us.size(), 2U);
    ASSERT_EQ(pair.gb_per_s.size(), 2U);
    for (const std::size_t i : {0, 1}) {
      EXPECT_GT(pair.latency_us[i], 0) << pair.from << " to " << pair.to;
      EXPECT_GT(pair.gb_per_s[i], 0) << pair.from << " to " << pair.to;
    }
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
  EXPECT_EQ(probes_from_json(text, "p.json"), probes);
}

TEST(Probe, MakesAFabricOfTheJobThatWasMeasured) {
  const Machine machine = detect(MPI_COMM_WORLD);
  const Probes probes =
      probe(MPI_COMM_WORLD,
            {.latency_bytes = {8}, .bandwidth_bytes = {10'000}, .repetitions = 1, .with_gpus = false});
  EXPECT_FALSE(probes.gpus.is_known());
  const Fabric fabric = fabric_from_machine(machine, probes, "a test");
  EXPECT_EQ(fabric.slot_count(), machine.rank_count());
  EXPECT_EQ(fabric.description().starts_with("measured by a test, "), machine.rank_count() > 1)
      << fabric.description();
}

TEST(Probe, WithoutSizesIsRefused) {
  try {
    static_cast<void>(probe(MPI_COMM_WORLD, {.latency_bytes = {}}));
    ADD_FAILURE() << "done";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.message(), "a probe without sizes");
  }
}

}  // namespace
}  // namespace selvage::topo
