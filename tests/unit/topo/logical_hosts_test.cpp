#include "machine/detect/logical_hosts.hpp"

#include <selvage/error.hpp>

#include <gtest/gtest.h>

namespace selvage::topo {
namespace {

std::string message_of(const std::string& text) {
  try {
    (void)parse_logical_hosts(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.message();
  }
  return "";
}

TEST(LogicalHosts, ReadsHostsAndRanksPerHost) {
  const LogicalHosts wanted = parse_logical_hosts("3x12");
  EXPECT_EQ(wanted.hosts, 3);
  EXPECT_EQ(wanted.ranks, std::vector{12});
}

TEST(LogicalHosts, ReadsTheRanksOfEachHost) {
  const LogicalHosts wanted = parse_logical_hosts("3+1+12");
  EXPECT_EQ(wanted.hosts, 3);
  EXPECT_EQ(wanted.ranks, (std::vector{3, 1, 12}));
}

TEST(LogicalHosts, RefusesAnythingElseNamingVariableAndValue) {
  for (const std::string text : {"2",    "x",    "2x",    "x2",    "0x2",           "2x0", "-1x2", "2x2x2",
                                 "2 x2", "2x2 ", "2X2",   "axb",   "99999999999x1", "+",   "2+",   "+2",
                                 "2+0",  "2+-1", "2+2x2", "2x2+1", "3+99999999999"}) {
    EXPECT_NE(message_of(text).find("SELVAGE_LOGICAL_HOSTS=" + text + " is neither HxR"), std::string::npos)
        << text;
  }
}

TEST(LogicalHosts, GivesGroupsTheirSizesInTurn) {
  EXPECT_EQ(split_into_logical_hosts({0, 0, 0, 0, 0, 0}, {3, {3, 1, 2}}, "3+1+2"),
            (std::vector{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(split_into_logical_hosts({0, 1, 0, 1, 0, 1}, {3, {2, 3, 1}}, "2+3+1"),
            (std::vector{0, 1, 0, 1, 2, 1}));
}

TEST(LogicalHosts, GroupsTheRanksOfAPhysicalHostInRankOrder) {
  EXPECT_EQ(split_into_logical_hosts({0, 0, 0, 0}, {2, {2}}, "2x2"), (std::vector{0, 0, 1, 1}));
}

TEST(LogicalHosts, KeepsPhysicalHostsApartWhenRanksAlternate) {
  EXPECT_EQ(split_into_logical_hosts({0, 1, 0, 1, 0, 1, 0, 1}, {4, {2}}, "4x2"),
            (std::vector{0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST(LogicalHosts, RefusesAnotherNumberOfRanks) {
  try {
    (void)split_into_logical_hosts({0, 0, 0}, {2, {2}}, "2x2");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.message(), "SELVAGE_LOGICAL_HOSTS=2x2 makes 4 ranks, but the job has 3");
  }
}

TEST(LogicalHosts, RefusesListsOfAnotherNumberOfRanks) {
  try {
    (void)split_into_logical_hosts({0, 0, 0}, {2, {3, 1}}, "3+1");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "SELVAGE_LOGICAL_HOSTS=3+1 makes 4 ranks, but the job has 3");
  }
}

TEST(LogicalHosts, RefusesAGroupAcrossPhysicalHosts) {
  try {
    (void)split_into_logical_hosts({0, 0, 0, 1}, {2, {2}}, "2x2");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.message().find("physical host 0 has 3 ranks"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace selvage::topo
