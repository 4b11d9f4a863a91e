#include "machine/detect/records.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

using CpuList = std::vector<int>;

/// A host of four cores with two hardware threads each, half of them near each of two NUMA nodes.
HostInventory inventory_of_eight_threads() {
  HostInventory inventory = unknown_inventory("not asked");
  inventory.cores = Figure<int>::known(4, Source::hwloc);
  inventory.allowed_cpus = Figure<CpuList>::known({0, 1, 2, 3, 4, 5, 6, 7}, Source::hwloc);
  for (int cpu = 0; cpu < 8; ++cpu) {
    inventory.threads.push_back({.cpu = cpu, .core = cpu / 2, .numa_node = cpu / 4});
  }
  inventory.core_list = Figure<std::vector<Core>>::known(
      {{.number = 0, .cpus = {0, 1}, .package = 0, .numa_node = 0, .l3_cache = {}}}, Source::hwloc);
  Gpu gpu;
  gpu.name = "G";
  gpu.uuid = "GPU-7";
  gpu.pci_bus_id = "0000:1b:00.0";
  gpu.near_cpus = Figure<CpuList>::known({0, 1, 2, 3}, Source::nvml);
  NvLink link;
  link.end = LinkEnd::nvswitch;
  link.pci_bus_id = "0000:c0:00.0";
  link.gb_per_s = Figure<double>::known(26.5, Source::nvml);
  gpu.links = Figure<std::vector<NvLink>>::known({link}, Source::nvml);
  gpu.fabric = Figure<GpuFabric>::known({.cluster = "c", .clique = 3}, Source::nvml);
  inventory.gpus = Figure<std::vector<Gpu>>::known({gpu}, Source::nvml);
  GpuPair& pair = inventory.gpu_pairs.emplace_back();
  pair.first = gpu.pci_bus_id;
  pair.second = "0000:2b:00.0";
  pair.level = GpuLevel::nvswitch;
  pair.ancestor = Figure<CommonAncestor>::known(CommonAncestor::numa_node, Source::nvml);
  pair.atomics = Figure<PeerStatus>::known(PeerStatus::disabled, Source::nvml);
  return inventory;
}

RankRecord record_on(int leader, CpuList affinity) {
  RankRecord record;
  record.host_leader = leader;
  record.processor_name = "node" + std::to_string(leader);
  record.boot_id = Figure<std::string>::known("boot " + std::to_string(leader), Source::kernel);
  record.affinity = Figure<CpuList>::known(std::move(affinity), Source::kernel);
  record.cpu_quota = Figure<double>::unknown("unlimited");
  record.mpi_library = "Some MPI 1.0";
  record.switches = Figure<std::vector<std::string>>::known({"top", "leaf"}, Source::environment);
  return record;
}

/// Ranks 0 and 2 on one host, 1 and 3 on another.
std::vector<RankRecord> four_records() {
  std::vector<RankRecord> records = {record_on(0, {0, 1}), record_on(1, {0}), record_on(0, {1, 2, 4}),
                                     record_on(1, {5})};
  records[0].inventory = inventory_of_eight_threads();
  records[1].inventory = unknown_inventory("built without hwloc");
  return records;
}

std::string input_error_of(const std::vector<RankRecord>& records) {
  try {
    (void)assemble(records);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.message();
  }
  return "nothing was thrown";
}

TEST(Assemble, NumbersHostsByTheirLowestRank) {
  const Machine machine = assemble(four_records());
  ASSERT_EQ(machine.physical_hosts().size(), 2u);
  EXPECT_EQ(machine.physical_hosts()[1].name, "node1");
  EXPECT_EQ(machine.ranks_of_host(0), (std::vector{0, 2}));
  EXPECT_TRUE(machine.same_physical_host(1, 3));
}

TEST(Assemble, PlacesRanksOnCoresAndNumaNodes) {
  const Machine machine = assemble(four_records());
  EXPECT_EQ(machine.place(0).cores.value_or(0), 1);
  EXPECT_EQ(machine.place(2).cores.value_or(0), 3);
  EXPECT_EQ(machine.place(2).numa_nodes.value_or({}), (std::vector{0, 1}));
  EXPECT_EQ(machine.physical_hosts()[0].usable_cpus.value_or({}), (std::vector{0, 1, 2, 4}));
}

TEST(Assemble, GivesTheInventorysReasonWhereCoresAreUnknown) {
  const Machine machine = assemble(four_records());
  EXPECT_EQ(machine.place(3).cores.reason(), "built without hwloc");
  EXPECT_EQ(machine.place(3).cpus.value_or({}), (std::vector{5}));
}

TEST(Assemble, LeavesOutProcessorsThatTheHostDoesNotAllow) {
  auto records = four_records();
  records[0].inventory->allowed_cpus = Figure<CpuList>::known({1, 2, 3}, Source::hwloc);
  const Machine machine = assemble(records);
  EXPECT_EQ(machine.place(0).cpus.value_or({}), (std::vector{1}));
  EXPECT_EQ(machine.place(2).cpus.value_or({}), (std::vector{1, 2}));
}

TEST(Assemble, BelievesARankWhoseProcessorsTheLeaderMayNotUse) {
  auto records = four_records();
  records[0].inventory->allowed_cpus = Figure<CpuList>::known({0}, Source::hwloc);
  EXPECT_EQ(assemble(records).place(2).cpus.value_or({}), (std::vector{1, 2, 4}));
}

TEST(Assemble, FindsTheCallersGpuInTheInventory) {
  auto records = four_records();
  records[0].gpu_pci_bus_id = "00000000:1B:00.0";
  records[2].gpu_pci_bus_id = "0000:3b:00.0";
  records[3].gpu_pci_bus_id = "0000:1b:00.0";
  const Machine machine = assemble(records);
  EXPECT_EQ(machine.place(0).gpu_uuid, Figure<std::string>::known("GPU-7", Source::nvml));
  EXPECT_EQ(machine.place(2).gpu_uuid.reason(), "0000:3b:00.0 is not among the 1 GPU that NVML lists");
  EXPECT_EQ(machine.place(3).gpu_uuid.reason(), "built without hwloc");
  EXPECT_EQ(machine.place(1).gpu_pci_bus_id.reason(), "the caller named none");
  EXPECT_FALSE(machine.same_gpu(0, 3));
}

TEST(Assemble, RefusesAGpuThatIsNoPciBusId) {
  auto records = four_records();
  records[2].gpu_pci_bus_id = "GPU 3";
  EXPECT_EQ(input_error_of(records),
            "rank 2: gpu_pci_bus_id 'GPU 3' is not a PCI bus id such as 0000:1b:00.0");
}

TEST(Assemble, FollowsTheRanksThatHaveTheLogicalHosts) {
  auto records = four_records();
  records[3].logical_hosts = "4x1";
  const Machine machine = assemble(records);
  EXPECT_EQ(machine.host_count(), 4);
  EXPECT_EQ(machine.physical_hosts().size(), 2u);
  EXPECT_EQ(machine.logical_hosts_setting(), Figure<std::string>::known("4x1", Source::environment));
}

TEST(Assemble, RefusesLogicalHostsThatRanksDisagreeOn) {
  auto records = four_records();
  records[1].logical_hosts = "4x1";
  records[3].logical_hosts = "2x2";
  EXPECT_EQ(input_error_of(records), "SELVAGE_LOGICAL_HOSTS is 4x1 on rank 1 but 2x2 on rank 3");
}

TEST(RankRecords, SurviveTheMessage) {
  auto records = four_records();
  records[0].logical_hosts = "2x2";
  records[0].gpu_pci_bus_id = "0000:1b:00.0";
  records[3].cpu_quota = Figure<double>::known(1.5, Source::kernel);
  const Machine before = assemble(records);
  for (RankRecord& record : records) {
    const auto bytes = pack_record(record);
    record = unpack_record(bytes.data(), bytes.data() + bytes.size());
  }
  EXPECT_EQ(assemble(records), before);
  EXPECT_EQ(before.place(3).cpu_quota.value_or(0), 1.5);
  EXPECT_EQ(before.physical_hosts()[1].switches.value_or({}), (std::vector<std::string>{"top", "leaf"}));
  EXPECT_EQ(before.physical_hosts()[0].core_list.value_or({}).at(0).cpus, (std::vector{0, 1}));
  EXPECT_EQ(before.physical_hosts()[1].core_list.reason(), "built without hwloc");
  EXPECT_EQ(before.physical_hosts()[0].gpu_pairs.at(0).level, GpuLevel::nvswitch);
}

}  // namespace
}  // namespace selvage::topo
