#include "mutation.hpp"
#include "sample_machine.hpp"

#include <selvage/topo/fabric.hpp>
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

GpuPair pair_between(const Gpu& first, const Gpu& second, GpuLevel level, int nvlinks) {
  GpuPair pair;
  pair.first = first.pci_bus_id;
  pair.second = second.pci_bus_id;
  pair.level = level;
  pair.nvlinks = nvlinks;
  pair.read = Figure<PeerStatus>::known(PeerStatus::ok, Source::nvml);
  return pair;
}

/// Three GPUs: the first two linked, the third at the same root complex as the first, and nothing known to the second.
Machine machine_with_linked_gpus() {
  PhysicalHost host = host_named("node7");
  std::vector<Gpu> gpus(3);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].name = "G";
    gpus[i].uuid = "GPU-" + std::to_string(i);
    gpus[i].pci_bus_id = "0000:" + std::to_string(i + 1) + "b:00.0";
  }
  gpus[0].near_cpus = Figure<std::vector<int>>::known({0, 1, 2, 8}, Source::nvml);
  NvLink link;
  link.end = LinkEnd::gpu;
  link.pci_bus_id = gpus[1].pci_bus_id;
  link.version = Figure<int>::known(3, Source::nvml);
  link.gb_per_s = Figure<double>::known(25.781, Source::nvml);
  gpus[0].links = Figure<std::vector<NvLink>>::known({link, link}, Source::nvml);
  gpus[1].links = Figure<std::vector<NvLink>>::known({}, Source::nvml);
  gpus[2].fabric = Figure<GpuFabric>::known({.cluster = "0001-02", .clique = 7}, Source::nvml);
  host.core_list = Figure<std::vector<Core>>::known(
      {{.number = 0, .cpus = {0, 8}, .package = 0, .numa_node = 1, .l3_cache = 2},
       {.number = {}, .cpus = {1}, .package = {}, .numa_node = {}, .l3_cache = {}}},
      Source::hwloc);
  host.gpu_pairs = {pair_between(gpus[0], gpus[1], GpuLevel::nvlink, 2),
                    pair_between(gpus[0], gpus[2], GpuLevel::root_complex, 0),
                    pair_between(gpus[1], gpus[2], GpuLevel::unknown, 0)};
  host.gpu_pairs[0].nvlink_gb_per_s = Figure<double>::known(51.562, Source::nvml);
  host.gpu_pairs[1].ancestor = Figure<CommonAncestor>::known(CommonAncestor::host_bridge, Source::nvml);
  host.gpu_pairs[1].read = Figure<PeerStatus>::known(PeerStatus::bridge_not_supported, Source::nvml);
  host.gpu_pairs[2].ancestor = Figure<CommonAncestor>::unknown("Insufficient Permissions");
  host.gpus = Figure<std::vector<Gpu>>::known(std::move(gpus), Source::nvml);
  std::vector<RankPlace> ranks = {rank_with_gpu(0, "0000:1b:00.0", "GPU-0"), rank_on(0, {1, 2})};
  ranks[1].host = 1;
  ranks[1].cpu_quota = Figure<double>::known(1.5, Source::kernel);
  return machine_of({host}, ranks);
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

TEST(MachineJson, CarriesWhatLiesBetweenGpus) {
  const json parsed = json::parse(to_json(machine_with_linked_gpus()));
  EXPECT_EQ(parsed.at("selvage_machine_version"), 1);
  const json& host = parsed.at("physical_hosts").at(0);
  EXPECT_EQ(host.at("gpu_pairs").at(0).at("level"), "nvlink");
  EXPECT_EQ(host.at("gpu_pairs").at(0).at("nvlink_gb_per_s"), json({{"value", 51.562}, {"source", "nvml"}}));
  EXPECT_EQ(host.at("gpu_pairs").at(2).at("common_ancestor").at("unknown"), "Insufficient Permissions");
  const json& link = host.at("gpus").at("value").at(0).at("nvlinks").at("value").at(1);
  EXPECT_EQ(link.at("end"), "gpu");
  EXPECT_EQ(link.at("pci_bus_id"), "0000:2b:00.0");
}

TEST(MachineJson, ReadsBackWhatItWrote) {
  for (const Machine& machine :
       {two_ranks_with_one_gpu(), machine_without_gpus(), machine_with_linked_gpus()}) {
    EXPECT_EQ(machine_from_json(to_json(machine), "m.json"), machine);
  }
}

TEST(MachineJson, ReadsFilesFromBeforeCoresWereListed) {
  json old = json::parse(to_json(machine_with_linked_gpus()));
  old.at("physical_hosts").at(0).erase("core_list");
  const Machine machine = machine_from_json(old.dump(), "m.json");
  EXPECT_EQ(machine.physical_hosts()[0].core_list,
            Figure<std::vector<Core>>::unknown("the file is of an older selvage-topo"));
}

TEST(MachineJson, CarriesCoresWithNullForWhatIsUnknown) {
  const json parsed = json::parse(to_json(machine_with_linked_gpus()));
  const json& cores = parsed.at("physical_hosts").at(0).at("core_list");
  EXPECT_EQ(cores.at("source"), "hwloc");
  EXPECT_EQ(cores.at("value").at(0).at("l3_cache"), 2);
  EXPECT_EQ(cores.at("value").at(1).at("number"), nullptr);
}

std::string message_with(const char* pointer, const json& value) {
  json changed = json::parse(to_json(machine_with_linked_gpus()));
  changed.at(json::json_pointer(pointer)) = value;
  return input_error([&] { (void)machine_from_json(changed.dump(), "m.json"); });
}

TEST(MachineJson, NamesThePlaceOfWhatIsWrong) {
  const auto message = [](const char* text) {
    return input_error([&] { (void)machine_from_json(text, "m.json"); });
  };
  EXPECT_EQ(message("{"), "m.json is not what selvage-topo show --json prints");
  EXPECT_EQ(message("[1]"), "m.json is not what selvage-topo show --json prints");
  EXPECT_EQ(message(R"({"selvage_machine_version": 2})"), "m.json: selvage_machine_version is not 1");
  EXPECT_EQ(message(R"({"selvage_machine_version": 1})"), "m.json has no 'mpi_library'");
  EXPECT_EQ(message_with("/physical_hosts", 3), "m.json: physical_hosts is not a list");
  EXPECT_EQ(message_with("/physical_hosts/0/cores", json({{"value", -1}, {"source", "hwloc"}})),
            "m.json: physical_hosts[0]: cores: value is not a whole number of at least 0");
  EXPECT_EQ(message_with("/physical_hosts/0/cores", json({{"value", 1e30}, {"source", "hwloc"}})),
            "m.json: physical_hosts[0]: cores: value is not a whole number of at least 0");
  EXPECT_EQ(message_with("/physical_hosts/0/cores", json({{"value", 1ull << 40}, {"source", "hwloc"}})),
            "m.json: physical_hosts[0]: cores: value is too large");
  EXPECT_EQ(message_with("/physical_hosts/0/cores", json({{"value", 1}, {"source", "hearsay"}})),
            "m.json: physical_hosts[0]: cores: source is 'hearsay', which has no meaning here");
  EXPECT_EQ(message_with("/physical_hosts/0/cores", json({{"value", 1}, {"source", "none"}})),
            "m.json: physical_hosts[0]: cores has a value but no source");
  EXPECT_EQ(message_with("/physical_hosts/0/gpu_pairs/0/level", "near"),
            "m.json: physical_hosts[0]: gpu_pairs[0]: level is 'near', which has no meaning here");
  EXPECT_EQ(message_with("/physical_hosts/0/gpu_pairs/0/second", "0000:3b:00.0"),
            "m.json: physical_hosts[0]: gpu_pairs is not a list of each two of the GPUs, in their order");
  EXPECT_EQ(message_with("/physical_hosts/0/gpu_pairs/0/second", "GPU 1"),
            "m.json: physical_hosts[0]: gpu_pairs[0]: second is not a PCI bus id such as 0000:1b:00.0");
  EXPECT_EQ(message_with("/physical_hosts/0/gpu_pairs/0/nvlink_gb_per_s/value", -2.5),
            "m.json: physical_hosts[0]: gpu_pairs[0]: nvlink_gb_per_s: value is not a number of at least 0");
  EXPECT_EQ(message_with("/ranks/1/hardware_threads/value/1", -3),
            "m.json: ranks[1]: hardware_threads: value[1] is not a whole number of at least 0");
  EXPECT_EQ(message_with("/ranks/1/rank", 0), "m.json: ranks[1]: rank is not 1");
  EXPECT_EQ(message_with("/ranks/1/physical_host", 4), "m.json contradicts itself: physical host 4 of 1");
}

void read_and_use(const std::string& text) {
  const Machine machine = machine_from_json(text, "m.json");
  (void)describe(machine);
  (void)fabric_from_machine(machine);
}

TEST(MachineJson, SurvivesMutations) {
  expect_only_input_errors(to_json(machine_with_linked_gpus()), read_and_use);
}

// Most changed bytes are no JSON; changed values are.
TEST(MachineJson, SurvivesValuesThatAreOutOfPlace) {
  const json good = json::parse(to_json(machine_with_linked_gpus())).flatten();
  const std::vector<json> odd = {
      nullptr, -1,  0,    1,  99,   1u << 31, std::uint64_t{1} << 63, 1e300,
      "",      "x", true, {}, "ok", "nvlink", json::array(),          json::object()};
  for (const auto& place : good.items()) {
    for (const json& value : odd) {
      json changed = good.unflatten();
      changed.at(json::json_pointer(place.key())) = value;
      try {
        read_and_use(changed.dump());
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::input) << error.what() << " for " << place.key() << ": " << value;
      }
    }
  }
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

TEST(MachineTable, ShowsWhatLiesBetweenGpus) {
  const std::string text = describe(machine_with_linked_gpus());
  for (const char* part :
       {"  between GPUs    0000:1b:00.0  0000:2b:00.0  0000:3b:00.0\n",
        "    0000:1b:00.0  -             NVLink x2     root complex\n",
        "    0000:2b:00.0  NVLink x2     -             ?\n", "NVLinks: 2 to GPUs, 51.56 GB/s each way\n",
        "NVLinks: none\n", "NVLinks: unknown: not looked for\n", "near hardware threads: 0-2,8\n",
        "NVLink domain: 0001-02, clique 7\n",
        "? unknown: Insufficient Permissions (first between 0000:2b:00.0 and 0000:3b:00.0)\n",
        "no peer access: bridge_not_supported (first between 0000:1b:00.0 and 0000:3b:00.0)\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "in\n" << text;
  }
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
