#include "sgd/cli/settings.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace selvage::sgd {
namespace {

using app::testing_support::error_message;

const std::string data = "[data]\npath = \"a.h5\"\n";

Settings read(const std::string& text) {
  app::Input input = app::Input::parse(data + text, "a.toml");
  return read_settings(input);
}

void expect_refusal(const std::string& text, const std::string& place, const std::string& part) {
  const std::string message = error_message(ErrorKind::input, [&] { static_cast<void>(read(text)); });
  EXPECT_EQ(message.rfind(place, 0), 0u) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Settings, DefaultsAreThePerceptronForDigits) {
  const Settings settings = read("");
  EXPECT_EQ(settings.hidden, std::vector{128});
  EXPECT_EQ(settings.batch, 64);
  EXPECT_EQ(settings.rate, 0.1);
  EXPECT_EQ(settings.momentum, 0.9);
  EXPECT_EQ(settings.epochs, 60);
  EXPECT_TRUE(settings.ordered);
  EXPECT_FALSE(settings.stop_step);
}

TEST(Settings, ZeroStepsAreNotAllSteps) {
  EXPECT_EQ(read("[run]\nsteps = 0\n").stop_step, 0);
}

TEST(Settings, WrongValuesAreNamedWithTheirLine) {
  expect_refusal("[train]\nbatch = 0\n", "a.toml:4:", "train.batch");
  expect_refusal("[train]\nmomentum = 1.5\n", "a.toml:4:", "train.momentum");
  expect_refusal("[model]\nhidden = [0]\n", "a.toml:4:", "model.hidden");
  expect_refusal("[train]\nepoch = 3\n", "a.toml:4:", "train.epochs");
}

TEST(Settings, ConvolutionsHaveImages) {
  const Settings settings = read("[model]\nimage = [28, 20]\nchannels = [32, 64]\n");
  EXPECT_EQ(settings.image, (std::array{28, 20}));
  EXPECT_EQ(settings.channels, (std::vector{32, 64}));
  expect_refusal("[model]\nimage = [28]\n", "a.toml:4:", "height and width");
  expect_refusal("[model]\nchannels = [0]\n", "a.toml:4:", "model.channels");
}

TEST(Settings, AStepThatIsTimedByPhasesIsNoGraph) {
  EXPECT_TRUE(read("[run]\ngraph = true\nbreakdown = false\n").graph);
  EXPECT_FALSE(read("[run]\ngraph = true\nbreakdown = true\n").graph);
}

TEST(Settings, WholeNumbersDontTravelAsBf16) {
  expect_refusal("[comm]\nbf16 = true\n", "a.toml:4:", "needs comm.reduce");
  EXPECT_TRUE(read("[comm]\nbf16 = true\nreduce = \"fast\"\n").bf16_on_the_wire);
}

TEST(Settings, MoreGrainsThanASumHoldsAreRefused) {
  expect_refusal("[train]\nbatch = 32769\ngrain = 1\n", "a.toml:5:", "32768");
  EXPECT_EQ(read("[train]\nbatch = 32768\ngrain = 1\n").grain, 1);
}

}  // namespace
}  // namespace selvage::sgd
