#include "sample_machine.hpp"

#include <selvage/topo/machine.hpp>

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

PhysicalHost host_with(const std::string& name, int cores, int gpus) {
  PhysicalHost host = host_named(name, "boot of " + name);
  host.processor = Figure<std::string>::known("Some CPU", Source::kernel);
  host.packages = Figure<int>::known(2, Source::hwloc);
  host.cores = Figure<int>::known(cores, Source::hwloc);
  std::vector<Gpu> list;
  for (int i = 0; i < gpus; ++i) {
    Gpu gpu;
    gpu.name = "Some GPU";
    gpu.uuid = name;
    list.push_back(gpu);
  }
  host.gpus = Figure<std::vector<Gpu>>::known(list, Source::nvml);
  return host;
}

TEST(HardwareSignature, NamesProcessorsCoresAndGpus) {
  EXPECT_EQ(hardware_signature(machine_of({host_with("a", 64, 4)}, {rank_on(0, {0})})),
            "2 x Some CPU (64 cores) + 4 x Some GPU");
  EXPECT_EQ(hardware_signature(machine_of({host_with("a", 64, 0)}, {rank_on(0, {0})})),
            "2 x Some CPU (64 cores)");
}

TEST(HardwareSignature, IsTheSameOnEveryHostOfAKind) {
  const Machine one = machine_of({host_with("a", 64, 4)}, {rank_on(0, {0})});
  const Machine two =
      machine_of({host_with("b", 64, 4), host_with("c", 64, 4)}, {rank_on(0, {0}), rank_on(1, {1})});
  EXPECT_EQ(hardware_signature(one), hardware_signature(two));
}

TEST(HardwareSignature, ListsEachKindOfHostOnceInAnyOrder) {
  const Machine one =
      machine_of({host_with("a", 64, 4), host_with("b", 8, 0)}, {rank_on(0, {0}), rank_on(1, {0})});
  const Machine two =
      machine_of({host_with("b", 8, 0), host_with("a", 64, 4)}, {rank_on(0, {0}), rank_on(1, {0})});
  EXPECT_EQ(hardware_signature(one), "2 x Some CPU (64 cores) + 4 x Some GPU, 2 x Some CPU (8 cores)");
  EXPECT_EQ(hardware_signature(one), hardware_signature(two));
}

TEST(HardwareSignature, SaysWhatIsUnknown) {
  EXPECT_EQ(hardware_signature(machine_of({host_named("a")}, {rank_on(0, {0})})), "unknown processor");
}

}  // namespace
}  // namespace selvage::topo
