#include "mutation.hpp"
#include "text/text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/read_text_file.hpp>
#include <selvage/topo/fabric.hpp>
#include <selvage/topo/machine_files.hpp>

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

std::string sample(const std::string& name) {
  return read_text_file(SELVAGE_TOPO_SAMPLES "/" + name);
}

const PhysicalHost& only_host(const Machine& machine) {
  EXPECT_EQ(machine.physical_hosts().size(), 1u);
  return machine.physical_hosts().at(0);
}

#ifdef SELVAGE_TEST_HWLOC

TEST(HwlocXml, GivesHostGpusAndPretendedRanks) {
  const Machine machine = machine_from_hwloc_xml(sample("hwloc.xml"), "h.xml");
  const PhysicalHost& host = only_host(machine);
  EXPECT_EQ(host.name, "node7");
  EXPECT_EQ(host.packages, Figure<int>::known(2, Source::file));
  EXPECT_EQ(host.cores.value_or(0), 4);
  EXPECT_EQ(host.processor.value_or(""), "Some CPU");
  ASSERT_EQ(host.gpus.value_or({}).size(), 4u) << "a board for a screen is no GPU";
  const Gpu& gpu = host.gpus.value()[3];
  EXPECT_EQ(gpu.name, "Some GPU");
  EXPECT_EQ(gpu.uuid, "GPU-81");
  EXPECT_EQ(gpu.pci_bus_id, "0000:81:00.0");
  EXPECT_EQ(gpu.memory_bytes.value_or(0), std::uint64_t{40} << 30);
  EXPECT_EQ(gpu.numa_node, Figure<int>::known(1, Source::file));
  EXPECT_EQ(gpu.near_cpus.value_or({}), (std::vector{2, 3}));
  ASSERT_EQ(machine.rank_count(), 4);
  EXPECT_EQ(machine.gpu_of(3), &gpu);
  EXPECT_EQ(machine.place(3).cpus.value_or({}), (std::vector{2, 3}));
  EXPECT_EQ(machine.place(3).numa_nodes.value_or({}), (std::vector{1}));
}

TEST(HwlocXml, GivesCores) {
  const PhysicalHost host = only_host(machine_from_hwloc_xml(sample("hwloc.xml"), "h.xml"));
  EXPECT_EQ(host.core_list.source(), Source::file);
  const Core last{.number = 3, .cpus = {3}, .package = 1, .numa_node = 1, .l3_cache = {}};
  ASSERT_EQ(host.core_list.value_or({}).size(), 4u);
  EXPECT_EQ(host.core_list.value().back(), last);
}

TEST(HwlocXml, NumbersOnlyTheCoresThatAreAllowed) {
  std::string text = sample("hwloc.xml");
  const std::string all = "allowed_cpuset=\"0x0000000f\"";
  text.replace(text.find(all), all.size(), "allowed_cpuset=\"0x0000000d\"");
  const PhysicalHost host = only_host(machine_from_hwloc_xml(text, "h.xml"));
  ASSERT_EQ(host.core_list.value_or({}).size(), 4u);
  EXPECT_EQ(host.core_list.value()[1].number, std::nullopt);
  EXPECT_EQ(host.core_list.value()[2].number, 1);
}

TEST(HwlocXml, FindsLevelsFromLinksAndBridges) {
  const Machine machine = machine_from_hwloc_xml(sample("hwloc.xml"), "h.xml");
  EXPECT_EQ(machine.gpu_level(0, 1), GpuLevel::nvlink);
  EXPECT_EQ(machine.gpu_pair(0, 1)->nvlink_gb_per_s, Figure<double>::known(100, Source::file));
  EXPECT_EQ(machine.gpu_pair(0, 1)->ancestor.value(), CommonAncestor::pcie_switch);
  EXPECT_EQ(machine.gpu_level(0, 2), GpuLevel::root_complex);
  EXPECT_EQ(machine.gpu_level(0, 3), GpuLevel::system);
  EXPECT_EQ(machine.gpu_level(2, 3), GpuLevel::nvlink);
  const Fabric fabric = fabric_from_machine(machine);
  EXPECT_EQ(fabric.cost(0, 1), 2u);
  EXPECT_EQ(fabric.cost(2, 3), 4u) << "half as wide";
}

TEST(HwlocXml, GoesByThePcieTreeWithoutBandwidths) {
  std::string text = sample("hwloc.xml");
  const auto begin = text.find("  <distances2");
  const std::string end = "</distances2>\n";
  text.erase(begin, text.find(end) + end.size() - begin);
  const Machine machine = machine_from_hwloc_xml(text, "h.xml");
  EXPECT_EQ(machine.gpu_level(0, 1), GpuLevel::pcie_switch);
  EXPECT_EQ(only_host(machine).gpus.value()[0].links.reason(), "the file has no bandwidths of NVLinks");
}

TEST(HwlocXml, PretendsARankPerCoreWithoutGpus) {
  std::string text = sample("hwloc.xml");
  for (auto at = text.find("0302 ["); at != std::string::npos; at = text.find("0302 ["))
    text.replace(at, 4, "0200");
  for (auto at = text.find("osdev_type=\""); at != std::string::npos; at = text.find("osdev_type=\"", at + 1))
    text[at + 12] = '2';
  const Machine machine = machine_from_hwloc_xml(text, "h.xml");
  EXPECT_TRUE(only_host(machine).gpus.value().empty());
  ASSERT_EQ(machine.rank_count(), 4);
  EXPECT_EQ(machine.place(2).cpus.value_or({}), (std::vector{2}));
  EXPECT_EQ(machine.place(2).gpu_pci_bus_id.reason(), "the host has no GPU");
}

TEST(HwlocXml, RefusesWhatIsNone) {
  for (const char* text :
       {"", "nothing", "<topology", "<system version=\"1\"/>", "<topology version=\"2.0\"></topology>"}) {
    EXPECT_EQ(input_error([&] { (void)machine_from_hwloc_xml(text, "h.xml"); }),
              "h.xml: hwloc can't read it as its XML")
        << text;
  }
}

TEST(HwlocXml, SurvivesMutations) {
  expect_only_input_errors(
      sample("hwloc.xml"), [](const std::string& text) { (void)machine_from_hwloc_xml(text, "h.xml"); }, 300);
}

#endif

#ifdef SELVAGE_TEST_PUGIXML

TEST(NcclXml, GivesGpusAndPretendedRanks) {
  const Machine machine = machine_from_nccl_xml(sample("nccl.xml"), "n.xml");
  const PhysicalHost& host = only_host(machine);
  EXPECT_EQ(host.numa_nodes, Figure<int>::known(2, Source::file));
  ASSERT_EQ(host.gpus.value_or({}).size(), 5u);
  const Gpu& gpu = host.gpus.value()[3];
  EXPECT_EQ(gpu.name, "GPU of sm_80");
  EXPECT_EQ(gpu.pci_bus_id, "0000:81:00.0");
  EXPECT_EQ(gpu.numa_node.value_or(-1), 1);
  EXPECT_EQ(gpu.near_cpus.value_or({}).front(), 16);
  EXPECT_EQ(gpu.near_cpus.value_or({}).size(), 16u);
  EXPECT_EQ(gpu.links.value().size(), 4u);
  EXPECT_EQ(gpu.links.value()[0].gb_per_s.reason(), "the file doesn't tell");
  EXPECT_EQ(machine.rank_count(), 5);
}

TEST(NcclXml, FindsLevelsFromLinksAndNesting) {
  const Machine machine = machine_from_nccl_xml(sample("nccl.xml"), "n.xml");
  EXPECT_EQ(machine.gpu_level(0, 1), GpuLevel::pcie_switch);
  EXPECT_EQ(machine.gpu_level(0, 2), GpuLevel::numa);
  EXPECT_EQ(machine.gpu_level(0, 3), GpuLevel::nvlink);
  EXPECT_EQ(machine.gpu_pair(0, 3)->nvlinks, 4);
  EXPECT_EQ(machine.gpu_level(0, 4), GpuLevel::system);
  EXPECT_EQ(fabric_from_machine(machine).cost(1, 4), 2u);
}

std::string nccl_with(const std::string& from, const std::string& to) {
  std::string text = sample("nccl.xml");
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(NcclXml, FindsAllPairsAlikeOnSwitches) {
  std::string text = nccl_with("tclass=\"0x030200\"", "tclass=\"0x068000\"");
  const std::string without_links = "<gpu dev=\"2\" sm=\"80\" rank=\"2\" gdr=\"1\"/>";
  text.replace(text.find(without_links), without_links.size(),
               "<gpu dev=\"2\"><nvlink target=\"0000:c1:00.0\" count=\"6\" tclass=\"0x068000\"/></gpu>");
  const Machine machine = machine_from_nccl_xml(text, "n.xml");
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < a; ++b) EXPECT_EQ(machine.gpu_level(a, b), GpuLevel::nvswitch) << a << ' ' << b;
  }
}

TEST(NcclXml, PartsHostsByTheirHash) {
  std::string text = sample("nccl.xml");
  text.replace(text.rfind("host_hash=\"0x1\""), 15, "host_hash=\"0x2\"");
  const Machine machine = machine_from_nccl_xml(text, "n.xml");
  ASSERT_EQ(machine.physical_hosts().size(), 2u);
  EXPECT_EQ(machine.physical_hosts()[1].name, "host1");
  EXPECT_EQ(machine.physical_hosts()[1].ranks, (std::vector{3, 4}));
}

TEST(NcclXml, NamesWhatIsWrong) {
  const auto message = [](const std::string& text) {
    return input_error([&] { (void)machine_from_nccl_xml(text, "n.xml"); });
  };
  EXPECT_EQ(message("<system>").substr(0, 20), "n.xml is not XML: St");
  EXPECT_EQ(message("<graphs version=\"1\"/>"), "n.xml has no <system>: it is not NCCL's topology");
  EXPECT_EQ(message("<system version=\"1\"/>"), "n.xml has no <cpu>");
  EXPECT_EQ(message("<system><cpu numaid=\"0\"/></system>"), "n.xml has no <gpu> in a <pci>");
  EXPECT_EQ(message(nccl_with("affinity=\"0", "affinity=\"x")),
            "n.xml has the affinity 'x0000000,0000ffff', which is no mask of processors");
  EXPECT_EQ(message(nccl_with("0000:81:00.0", "0000:81")),
            "n.xml has a GPU whose busid '0000:81' is not a PCI bus id such as 0000:1b:00.0");
  EXPECT_EQ(message(nccl_with("count=\"4\"", "count=\"-4\"")), "n.xml has an <nvlink> with the count '-4'");
  EXPECT_EQ(message(nccl_with("count=\"4\"", "count=\"99999999\"")),
            "n.xml has an <nvlink> with the count '99999999'");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<pci busid=\"0000:01:00.0\">";
  std::string ends;
  for (int i = 0; i < 100; ++i) ends += "</pci>";
  EXPECT_EQ(message("<system><cpu>" + deep + ends + "</cpu></system>"),
            "n.xml has <pci> elements within too many others");
}

TEST(NcclXml, SurvivesMutations) {
  expect_only_input_errors(sample("nccl.xml"), [](const std::string& text) {
    (void)fabric_from_machine(machine_from_nccl_xml(text, "n.xml"));
  });
}

#endif

}  // namespace
}  // namespace selvage::topo
