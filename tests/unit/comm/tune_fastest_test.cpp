#include "fastest.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace selvage::tune {
namespace {

std::string fastest_by(const std::map<std::string, double>& times, const std::string& by_rule) {
  std::vector<std::string> names;
  for (const auto& [name, time] : times) names.push_back(name);
  return fastest(names, by_rule, [&](const std::string& name, const std::string& other) {
    return times.at(other) / times.at(name);
  });
}

TEST(Fastest, StaysWithTheRuleWhereOthersGainLessThanNoise) {
  EXPECT_EQ(fastest_by({{"mpi", 99}, {"one_shot", 98}, {"two_shot", 100}}, "two_shot"), "two_shot");
  EXPECT_EQ(fastest_by({{"mpi", 300}, {"one_shot", 100}}, "one_shot"), "one_shot");
}

TEST(Fastest, IsTheFastestOfThoseThatClearlyBeatTheRule) {
  const std::map<std::string, double> times{
      {"hierarchical", 90}, {"mpi", 60}, {"one_shot", 70}, {"two_shot", 100}};
  EXPECT_EQ(fastest_by(times, "two_shot"), "mpi");
  EXPECT_EQ(fastest_by(times, "hierarchical"), "mpi");
}

}  // namespace
}  // namespace selvage::tune
