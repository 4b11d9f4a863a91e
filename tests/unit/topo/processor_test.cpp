#include "machine/detect/records.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace selvage::topo {
namespace {

Figure<std::string> model_in(const std::string& text) {
  std::istringstream cpu_info(text);
  return processor_model(cpu_info);
}

TEST(ProcessorModel, IsThatOfTheFirstProcessor) {
  const auto model =
      model_in("processor\t: 0\nmodel\t\t: 2\nmodel name\t: Some CPU 7B13 \nmodel name\t: Another\n");
  EXPECT_EQ(model.value_or(""), "Some CPU 7B13");
  EXPECT_EQ(model.source(), Source::kernel);
}

TEST(ProcessorModel, IsUnknownWhereTheKernelNamesNone) {
  EXPECT_EQ(model_in("processor\t: 0\nCPU implementer\t: 0x41\n").reason(),
            "/proc/cpuinfo has no model name");
  EXPECT_FALSE(model_in("model name\t: \n").is_known());
}

TEST(ProcessorModel, TravelsWithTheInventory) {
  RankRecord record;
  record.inventory = unknown_inventory("no hwloc");
  record.inventory->processor = Figure<std::string>::known("Some CPU", Source::kernel);
  const auto bytes = pack_record(record);
  const Machine machine = assemble({unpack_record(bytes.data(), bytes.data() + bytes.size())});
  EXPECT_EQ(machine.physical_hosts().at(0).processor.value_or(""), "Some CPU");
}

}  // namespace
}  // namespace selvage::topo
