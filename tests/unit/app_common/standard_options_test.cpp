#include "common/standard_options.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace selvage;
using app::testing_support::error_message;

const app::StandardDefaults defaults{.steps = 50,
                                     .out_dir = "out/demo",
                                     .transports = {"auto", "peer"},
                                     .initiations = {"auto", "host"},
                                     .dimensions = 2};

app::StandardOptions read(std::vector<app::Override> overrides) {
  auto input = app::Input::parse("", "", overrides);
  const auto options = app::read_standard_options(input, defaults);
  input.reject_unknown();
  return options;
}

std::string read_error(std::vector<app::Override> overrides) {
  return error_message(ErrorKind::input, [&] { (void)read(std::move(overrides)); });
}

TEST(StandardOptions, AreTheAppsDefaultsWithoutInput) {
  const auto options = read({});
  EXPECT_EQ(options.steps, 50);
  EXPECT_EQ(options.out_dir, "out/demo");
  EXPECT_FALSE(options.restart_path);
  EXPECT_FALSE(options.verify);
  EXPECT_EQ(options.transport, "auto");
  EXPECT_EQ(options.initiation, "auto");
  EXPECT_FALSE(options.ranks_grid);
}

TEST(StandardOptions, ComeFromTheirKeys) {
  const auto options = read({{"run.steps", "0"},
                             {"run.out", "x"},
                             {"run.restart", "r.h5"},
                             {"run.verify", "true"},
                             {"comm.transport", "peer"},
                             {"comm.initiation", "host"},
                             {"comm.ranks_grid", "2x3"}});
  EXPECT_EQ(options.steps, 0);
  EXPECT_EQ(options.out_dir, "x");
  EXPECT_EQ(options.restart_path, "r.h5");
  EXPECT_TRUE(options.verify);
  EXPECT_EQ(options.transport, "peer");
  EXPECT_EQ(options.initiation, "host");
  EXPECT_EQ(options.ranks_grid, (std::vector<int>{2, 3}));
}

TEST(StandardOptions, RefuseNegativeSteps) {
  EXPECT_EQ(read_error({{"run.steps", "-1", "--steps"}}), "--steps: run.steps must be at least 0, but is -1");
}

TEST(StandardOptions, RefuseAnUnknownTransportWithASuggestion) {
  EXPECT_NE(read_error({{"comm.transport", "pear", "--transport"}}).find("did you mean 'peer'?"),
            std::string::npos);
}

TEST(StandardOptions, RefuseAnEmptyOutputDirectory) {
  EXPECT_NE(read_error({{"run.out", ""}}), "");
}

TEST(StandardOptions, RefuseARankGridOfAnotherShape) {
  for (const char* text :
       {"2", "2x2x2", "2x", "x2", "0x2", "-1x2", "2xa", "two", "", "2 x 2", "99999999999x1"}) {
    EXPECT_NE(read_error({{"comm.ranks_grid", text}}).find("comm.ranks_grid must be \"auto\""),
              std::string::npos)
        << text;
  }
}

}  // namespace
