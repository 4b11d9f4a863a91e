#include "sample_machine.hpp"

#include <selvage/topo/machine.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace selvage::topo {
namespace {

using nlohmann::json;

Machine two_ranks_with_one_gpu() {
  PhysicalHost host = host_named("node7", "boot 1");
  host.cores = Figure<int>::known(64, Source::hwloc);
  host.memory_bytes = Figure<std::uint64_t>::known(std::uint64_t{3} << 30, Source::hwloc);
  host.l3_bytes = Figure<std::uint64_t>::unknown("built without hwloc");
  Gpu gpu;
  gpu.name = "Pretended GPU";
  gpu.uuid = "GPU-1";
  gpu.pci_bus_id = "0000:1b:00.0";
  gpu.memory_bytes = Figure<std::uint64_t>::known(1024, Source::nvml);
  gpu.numa_node = Figure<int>::unknown("no /sys");
  host.gpus = Figure<std::vector<Gpu>>::known({gpu}, Source::nvml);
  return machine_of({host}, {rank_with_gpu(0, "0000:1b:00.0", "GPU-1"), rank_on(0, {0})});
}

Machine machine_without_gpus() {
  PhysicalHost host = host_named("node7");
  host.gpus = Figure<std::vector<Gpu>>::unknown("libnvidia-ml.so.1: cannot open");
  return machine_of({host}, {rank_on(0, {0, 1, 4})});
}

TEST(MachineJson, CarriesEachFigureWithItsSource) {
  const json parsed = json::parse(to_json(two_ranks_with_one_gpu()));
  const json& host = parsed.at("physical_hosts").at(0);
  EXPECT_EQ(host.at("cores"), json({{"value", 64}, {"source", "hwloc"}}));
  EXPECT_EQ(host.at("memory_bytes").at("value"), std::uint64_t{3} << 30);
  EXPECT_EQ(host.at("gpus").at("source"), "nvml");
  EXPECT_EQ(host.at("gpus").at("value").at(0).at("uuid"), "GPU-1");
  EXPECT_EQ(parsed.at("ranks").at(0).at("gpu_pci_bus_id"),
            json({{"value", "0000:1b:00.0"}, {"source", "caller"}}));
  EXPECT_EQ(parsed.at("ranks").at(1).at("hardware_threads"), json({{"value", {0}}, {"source", "kernel"}}));
  EXPECT_EQ(parsed.at("mpi_library").at("source"), "mpi");
  EXPECT_EQ(parsed.at("hosts").at(0).at("ranks"), json({0, 1}));
}

TEST(MachineJson, SaysWhyAFigureIsMissing) {
  const json parsed = json::parse(to_json(two_ranks_with_one_gpu()));
  EXPECT_EQ(parsed.at("physical_hosts").at(0).at("l3_bytes"),
            json({{"value", nullptr}, {"unknown", "built without hwloc"}}));
  const json without = json::parse(to_json(machine_without_gpus()));
  EXPECT_EQ(without.at("physical_hosts").at(0).at("gpus").at("unknown"), "libnvidia-ml.so.1: cannot open");
}

TEST(MachineJson, StaysJsonWhateverBytesANameHolds) {
  const Machine machine = machine_of({host_named("node\xff\"\n")}, {rank_on(0, {0})});
  EXPECT_TRUE(json::accept(to_json(machine)));
}

TEST(MachineTable, ShowsHostsGpusAndRanks) {
  const std::string text = describe(two_ranks_with_one_gpu());
  EXPECT_NE(text.find("2 ranks on 1 host (1 physical), Some MPI 1.0"), std::string::npos) << text;
  EXPECT_NE(text.find("3 GiB [hwloc]"), std::string::npos) << text;
  EXPECT_NE(text.find("0000:1b:00.0  Pretended GPU  1 KiB, NUMA node unknown: no /sys, GPU-1"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("its 2 ranks may exceed the processors"), std::string::npos) << text;
  EXPECT_EQ(text.back(), '\n');
}

TEST(MachineTable, SaysWhatIsUnknownAndWhy) {
  const std::string text = describe(machine_without_gpus());
  EXPECT_NE(text.find("GPUs              unknown: libnvidia-ml.so.1: cannot open\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("cores             unknown: not looked for\n"), std::string::npos) << text;
  EXPECT_NE(text.find("0-1,4"), std::string::npos) << text;
  EXPECT_EQ(text.find("exceed"), std::string::npos) << text;
}

TEST(MachineTable, ExplainsAnUnknownColumnOnce) {
  const Machine machine = machine_of({host_named("a")}, {rank_on(0, {0}), rank_on(0, {1}), rank_on(0, {2})});
  const std::string text = describe(machine);
  const std::string note = "NUMA unknown: not looked for (first on rank 0)";
  const auto first = text.find(note);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find(note, first + 1), std::string::npos) << text;
}

}  // namespace
}  // namespace selvage::topo
