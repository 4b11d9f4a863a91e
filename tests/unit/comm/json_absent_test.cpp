// What stands in for the readers and writers of JSON where the libraries are built without nlohmann-json.
#include "collectives/allreduce_table.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/machine.hpp>
#include <selvage/topo/probe.hpp>
#include <selvage/topo/rank_files.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace selvage {
namespace {

void expect_refusal(const std::function<void()>& use, const std::string& name) {
  try {
    use();
    ADD_FAILURE() << name << " was not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(error.message().find("built without nlohmann-json"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find(name), std::string::npos) << error.message();
  }
}

TEST(JsonAbsent, RefusesToReadAndSaysWhich) {
  expect_refusal([] { (void)topo::machine_from_json("{}", "machine.json"); }, "machine.json");
  expect_refusal([] { (void)topo::probes_from_json("{}", "probes.json"); }, "probes.json");
  expect_refusal([] { (void)topo::read_probes("no/such/file.json"); }, "no/such/file.json");
  expect_refusal([] { (void)topo::plan_from_json("{}", "plan.json"); }, "plan.json");
  expect_refusal([] { (void)detail::AllreduceTable::parse("{}", "table.json"); }, "table.json");
}

TEST(JsonAbsent, RefusesToWrite) {
  expect_refusal([] { (void)topo::to_json(topo::Machine()); }, "machine");
  expect_refusal([] { (void)topo::to_json(topo::Probes()); }, "probe");
  expect_refusal([] { (void)detail::AllreduceTable().to_text(); }, "allreduce table");
}

}  // namespace
}  // namespace selvage
