#include "common/input.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace selvage;
using app::Input;
using app::Override;
using app::testing_support::error_message;

Input parse(std::string_view text, std::vector<Override> overrides = {}) {
  return Input::parse(text, "in.toml", overrides);
}

template <class Work>
std::string input_error(Work&& work) {
  return error_message(ErrorKind::input, std::forward<Work>(work));
}

TEST(TomlInput, ReadsEveryType) {
  auto input = parse(R"(
[a]
whole = 3
real = 2.5
flag = true
text = "word"
list = [1, 2, 3]
reals = [1, 2.5]
flags = [true, false]
texts = ["x", "y"]
)");
  EXPECT_EQ(input.get<int>("a.whole", 0), 3);
  EXPECT_EQ(input.get<std::int64_t>("a.whole", 0), 3);
  EXPECT_EQ(input.get<double>("a.real", 0), 2.5);
  EXPECT_EQ(input.get<float>("a.real", 0), 2.5F);
  EXPECT_TRUE(input.get_bool("a.flag", false));
  EXPECT_EQ(input.get_text("a.text", ""), "word");
  EXPECT_EQ(input.list<std::int64_t>("a.list", {}), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(input.list<double>("a.reals", {}), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(input.list<bool>("a.flags", {}), (std::vector<bool>{true, false}));
  EXPECT_EQ(input.list<std::string>("a.texts", {}), (std::vector<std::string>{"x", "y"}));
  EXPECT_NO_THROW(input.reject_unknown());
}

TEST(TomlInput, TakesAWholeNumberForARealOne) {
  EXPECT_EQ(parse("x = 2").get<double>("x", 0), 2.0);
}

TEST(TomlInput, GivesTheDefaultForAnAbsentKey) {
  auto input = parse("");
  EXPECT_EQ(input.get<double>("run.tolerance", 0.5), 0.5);
  EXPECT_EQ(input.list<int>("grid.cells", {4, 5}), (std::vector<int>{4, 5}));
  EXPECT_EQ(input.choice("case.name", "a", {"a", "b"}), "a");
}

TEST(TomlInput, NamesFileLineAndColumnOfASyntaxError) {
  const auto message = input_error([] { (void)parse("a = 1\nb = = 2\n"); });
  EXPECT_TRUE(message.starts_with("in.toml:2:5: ")) << message;
}

TEST(TomlInput, RefusesAKeyGivenTwice) {
  const auto message = input_error([] { (void)parse("a = 1\na = 2\n"); });
  EXPECT_TRUE(message.starts_with("in.toml:2:")) << message;
}

TEST(TomlInput, SuggestsTheClosestKeyForAnUnknownOne) {
  auto input = parse("[grid]\ncels = [3]\n");
  (void)input.list<int>("grid.cells", {1});
  EXPECT_EQ(input_error([&] { input.reject_unknown(); }),
            "in.toml:2: unknown key 'grid.cels', did you mean 'grid.cells'?");
}

TEST(TomlInput, ReportsTheFirstUnknownKeyOfTheFile) {
  auto input = parse("[z]\nfirst = 1\n[a]\nsecond = 2\n");
  EXPECT_EQ(input_error([&] { input.reject_unknown(); }), "in.toml:2: unknown key 'z.first'");
}

TEST(TomlInput, ReportsAnUnknownKeyFromSet) {
  auto input = parse("", {{.key = "run.stesp", .text = "3"}});
  (void)input.get<int>("run.steps", 1);
  EXPECT_EQ(input_error([&] { input.reject_unknown(); }),
            "--set: unknown key 'run.stesp', did you mean 'run.steps'?");
}

TEST(TomlInput, NamesLineKeyAndValueOfAWrongType) {
  auto input = parse("\n[run]\nsteps = \"ten\"\nratio = 2.5\nverify = 1\nname = 7\n");
  EXPECT_EQ(input_error([&] { (void)input.get<int>("run.steps", 1); }),
            "in.toml:3: run.steps must be a whole number, but is \"ten\"");
  EXPECT_EQ(input_error([&] { (void)input.get<int>("run.ratio", 1); }),
            "in.toml:4: run.ratio must be a whole number, but is 2.5");
  EXPECT_EQ(input_error([&] { (void)input.get_bool("run.verify", false); }),
            "in.toml:5: run.verify must be true or false, but is 1");
  EXPECT_EQ(input_error([&] { (void)input.get_text("run.name", ""); }),
            "in.toml:6: run.name must be a text in quotes, but is 7");
}

TEST(TomlInput, RefusesTypesThatNothingReads) {
  auto input = parse("day = 2024-01-02\ntables = [{a = 1}]\n");
  EXPECT_EQ(input_error([&] { (void)input.get<int>("day", 1); }),
            "in.toml:1: day must be a whole number, but is a date");
  EXPECT_NE(
      input_error([&] { (void)input.list<int>("tables", {}); }).find("in.toml:2: tables must be a list"),
      std::string::npos);
}

TEST(TomlInput, NamesTheLimitsThatAValueIsOutside) {
  auto input = parse("a = 0\nb = -1.5\nc = 9\n");
  EXPECT_EQ(input_error([&] { (void)input.get<int>("a", 1, {.least = 1}); }),
            "in.toml:1: a must be at least 1, but is 0");
  EXPECT_EQ(input_error([&] { (void)input.get<double>("b", 1, {.least = 0, .above_least = true}); }),
            "in.toml:2: b must be greater than 0, but is -1.5");
  EXPECT_EQ(input_error([&] { (void)input.get<int>("c", 1, {.least = 1, .most = 8}); }),
            "in.toml:3: c must be from 1 to 8, but is 9");
  EXPECT_EQ(input_error([&] { (void)input.get<int>("c", 1, {.most = 8}); }),
            "in.toml:3: c must be at most 8, but is 9");
}

TEST(TomlInput, RefusesTheLeastValueItselfOnlyWhereItIsExcluded) {
  auto input = parse("zero = 0.0\n");
  EXPECT_EQ(input.get<double>("zero", 1, {.least = 0}), 0.0);
  EXPECT_NE(input_error([&] { (void)input.get<double>("zero", 1, {.least = 0, .above_least = true}); }), "");
}

TEST(TomlInput, RefusesNumbersThatAreNotFinite) {
  auto input = parse("a = nan\nb = inf\nc = -inf\nd = 1e300\ne = [1.0, nan]\n");
  EXPECT_EQ(input_error([&] { (void)input.get<double>("a", 0); }),
            "in.toml:1: a must be a finite number, but is nan");
  EXPECT_EQ(input_error([&] { (void)input.get<double>("b", 0); }),
            "in.toml:2: b must be a finite number, but is inf");
  EXPECT_EQ(input_error([&] { (void)input.get<double>("c", 0); }),
            "in.toml:3: c must be a finite number, but is -inf");
  EXPECT_NE(input_error([&] { (void)input.get<float>("d", 0); }), "");
  EXPECT_EQ(input_error([&] { (void)input.list<double>("e", {}); }),
            "in.toml:5: e must be a list, each element a finite number, but is [1.0, nan]");
}

TEST(TomlInput, RefusesAWholeNumberThatDoesNotFit) {
  auto input = parse("big = 3000000000\n");
  EXPECT_EQ(input.get<std::int64_t>("big", 0), 3'000'000'000);
  EXPECT_NE(input_error([&] { (void)input.get<int>("big", 0); }).find("in.toml:1: big must be"),
            std::string::npos);
}

TEST(TomlInput, ChecksTheLengthAndTheElementsOfAList) {
  auto input = parse("a = [1]\nb = [4, 0]\nc = 3\nd = [1, \"x\"]\n");
  EXPECT_EQ(input_error([&] { (void)input.list<int>("a", {}, {.least_length = 2, .most_length = 3}); }),
            "in.toml:1: a must be a list of 2 to 3, but is [1]");
  EXPECT_EQ(input_error([&] { (void)input.list<int>("a", {}, {.least_length = 2, .most_length = 2}); }),
            "in.toml:1: a must be a list of 2, but is [1]");
  EXPECT_EQ(input_error([&] { (void)input.list<int>("b", {}, {.each = {.least = 1}}); }),
            "in.toml:2: b must be a list, each element at least 1, but is [4, 0]");
  EXPECT_EQ(input_error([&] { (void)input.list<int>("c", {}); }),
            "in.toml:3: c must be a list, each element a whole number, but is 3");
  EXPECT_EQ(input_error([&] { (void)input.list<int>("d", {}); }),
            "in.toml:4: d must be a list, each element a whole number, but is [1, \"x\"]");
}

TEST(TomlInput, ListsTheChoicesAndSuggestsTheClosest) {
  auto input = parse("[case]\nname = \"dirichlett\"\n");
  EXPECT_EQ(
      input_error([&] {
        (void)input.choice("case.name", "dirichlet", {"dirichlet", "public-sample"});
      }),
      "in.toml:2: case.name must be one of dirichlet, public-sample, but is \"dirichlett\", did you mean "
      "'dirichlet'?");
}

TEST(TomlInput, LetsTheCommandLineWinAndTheLastOfItMost) {
  auto input = parse("[run]\nsteps = 1\n", {{"run.steps", "2"}, {"run.steps", "3", "--steps"}});
  EXPECT_EQ(input.get<int>("run.steps", 0), 3);
  EXPECT_EQ(input.resolved().at("run.steps").origin, "--steps");
}

TEST(TomlInput, ReadsOverridesAsTomlOrAsBareWords) {
  auto input = parse("", {{"a", "[4, 5]"},
                          {"b", "dirichlet"},
                          {"c", "2x2x1"},
                          {"d", "1e-3"},
                          {"e", "\"quoted\""},
                          {"f", "true"},
                          {"g", ""},
                          {"h", "1\nz = 2"}});
  EXPECT_EQ(input.list<int>("a", {}), (std::vector<int>{4, 5}));
  EXPECT_EQ(input.get_text("b", ""), "dirichlet");
  EXPECT_EQ(input.get_text("c", ""), "2x2x1");
  EXPECT_EQ(input.get<double>("d", 0), 1e-3);
  EXPECT_EQ(input.get_text("e", ""), "quoted");
  EXPECT_TRUE(input.get_bool("f", false));
  EXPECT_EQ(input.get_text("g", "x"), "");
  EXPECT_EQ(input.get_text("h", "x"), "1\nz = 2");
}

TEST(TomlInput, TakesANumberOnTheCommandLineForAText) {
  EXPECT_EQ(parse("", {{"case.name", "12"}}).get_text("case.name", ""), "12");
}

TEST(TomlInput, CitesTheFlagWhoseValueIsWrong) {
  auto input = parse("[run]\nsteps = 5\n", {{"run.steps", "-5", "--steps"}});
  EXPECT_EQ(input_error([&] { (void)input.get<int>("run.steps", 1, {.least = 0}); }),
            "--steps: run.steps must be at least 0, but is -5");
}

TEST(TomlInput, TakesNothingBehindTheNumberOfAnOverride) {
  for (const char* text : {"5 # percent", "5,", "5, other = 1", "5\nother = 1", "5x", "9223372036854775808",
                           "18446744073709551616", "1e400", "", " "}) {
    Input input = parse("", {{"run.steps", text, "--steps"}});
    EXPECT_EQ(input_error([&] { static_cast<void>(input.get<std::int64_t>("run.steps", 1)); }),
              "--steps: run.steps must be a whole number, but is \"" + std::string(text) + "\"");
  }
}

TEST(TomlInput, RefusesAnOverrideWithoutAKey) {
  EXPECT_NE(input_error([] {
              (void)parse("", {{"run steps", "3"}});
            }).find("'run steps' is not a key"),
            std::string::npos);
  EXPECT_NE(input_error([] { (void)parse("", {{".a", "3"}}); }), "");
}

TEST(TomlInput, RequiresAKeyWithoutADefault) {
  EXPECT_EQ(parse("x = 3").require<int>("x"), 3);
  EXPECT_EQ(input_error([] { (void)parse("").require<int>("run.steps"); }),
            "run.steps is required, but not given");
}

TEST(TomlInput, RejectsAValueThatOnlySeveralTogetherMakeWrong) {
  auto input = parse("[grid]\ncells = [3, 3]\n");
  (void)input.list<int>("grid.cells", {});
  EXPECT_EQ(input_error([&] { input.reject("grid.cells", "gives axis 0 only 3 cells for 4 ranks"); }),
            "in.toml:2: grid.cells gives axis 0 only 3 cells for 4 ranks");
  EXPECT_EQ(input_error([&] { input.reject("run.x", "is odd"); }), "run.x is odd");
}

TEST(TomlInput, KeepsEveryValueAsUsedWithItsOrigin) {
  auto input = parse("[run]\nsteps = 7\n", {{"case.name", "b"}});
  (void)input.get<int>("run.steps", 1);
  (void)input.choice("case.name", "a", {"a", "b"});
  (void)input.get<double>("run.tolerance", 0.5);
  const auto& resolved = input.resolved();
  EXPECT_EQ(to_text(resolved.at("run.steps").value), "7");
  EXPECT_EQ(resolved.at("run.steps").origin, "in.toml:2");
  EXPECT_EQ(to_text(resolved.at("case.name").value), "\"b\"");
  EXPECT_EQ(resolved.at("case.name").origin, "--set");
  EXPECT_EQ(to_text(resolved.at("run.tolerance").value), "0.5");
  EXPECT_EQ(resolved.at("run.tolerance").origin, "default");
}

}  // namespace
