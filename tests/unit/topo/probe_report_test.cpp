#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace selvage::topo {
namespace {

/// Every pair of these takes the same, but for pairs on different hosts.
Probes probes_of(const std::vector<std::string>& hosts, double slower = 1) {
  Probes probes{.hosts = hosts, .latency_bytes = 8, .bandwidth_bytes = 1'000'000, .pairs = {}};
  for (int from = 0; from < probes.rank_count(); ++from) {
    for (int to = 0; to < probes.rank_count(); ++to) {
      if (from == to) continue;
      const bool is_apart = hosts[static_cast<std::size_t>(from)] != hosts[static_cast<std::size_t>(to)];
      const double rate = is_apart ? 10 / slower : 10;
      probes.pairs.push_back(
          {.from = from, .to = to, .latency_us = 0.001, .gb_per_s = rate, .gb_per_s_together = rate / 2});
    }
  }
  return probes;
}

Error refusal(const std::string& text) {
  try {
    static_cast<void>(probes_from_json(text, "p.json"));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "taken: " << text;
  return Error(ErrorKind::usage, "");
}

TEST(Probes, AreTheSameAfterJson) {
  for (const std::vector<std::string>& hosts :
       {std::vector<std::string>{"a"}, std::vector<std::string>{"a", "b", "a"}}) {
    const Probes probes = probes_of(hosts, 3);
    EXPECT_EQ(probes_from_json(to_json(probes), "p.json"), probes);
  }
}

TEST(Probes, AreRefusedWhereTheyAreBroken) {
  const std::string good = to_json(probes_of({"a", "b"}));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "it is not a JSON object"},
      {"[]", "it is not a JSON object"},
      {"{}", "it holds no probes of version 1"},
      {with("\"selvage_probe_version\": 1", "\"selvage_probe_version\": 2"),
       "it holds no probes of version 1"},
      {with("\"hosts\"", "\"ghosts\""), "'hosts' is not a list of 1 to 256 names"},
      {with("\"b\"", "3"), "a host is not a name"},
      {with("\"b\"", "\"b\", \"c\""), "'pairs' is not a list of the 6 pairs of 3 ranks"},
      {with("\"latency_bytes\": 8", "\"latency_bytes\": 0"),
       "'latency_bytes' is not a whole number of at least 1"},
      {with("\"to\": 1", "\"to\": 0"), "the pair of ranks 0 and 1 is not where it should be"},
      {with("\"gb_per_s\": 10.0", "\"gb_per_s\": -1"),
       "'gb_per_s' of the pair of ranks 0 and 1 is not a number above 0"},
      {with("\"latency_us\": 0.001", "\"latency_us\": null"),
       "'latency_us' of the pair of ranks 0 and 1 is not a number above 0"}};
  for (const auto& [text, message] : cases) {
    const Error error = refusal(text);
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.message(), "p.json: " + message);
  }
}

/// Whatever a file holds, it is read or refused.
TEST(Probes, OfDamagedFilesAreErrors) {
  const std::string good = to_json(probes_of({"a", "b", "a"}));
  std::uint64_t state = 1;
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (int changes = 0; changes < 3; ++changes) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      text[(state >> 33) % text.size()] = static_cast<char>(state >> 56);
    }
    try {
      static_cast<void>(fabric_from_probes(probes_from_json(text, "p.json")));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input) << error.message();
    }
  }
}

TEST(Probes, MakeAFlatFabricWhereAllPairsTakeTheSame) {
  EXPECT_TRUE(fabric_from_probes(probes_of({"a", "a", "a", "a"})).is_flat());
  EXPECT_TRUE(fabric_from_probes(probes_of({"a", "b", "a", "b"}, 1.05)).is_flat()) << "so much is noise";
  EXPECT_FALSE(fabric_from_probes(probes_of({"a", "b", "a", "b"}, 1.3)).is_flat());
}

TEST(Probes, MakeFarHostsCostMore) {
  const Fabric fabric = fabric_from_probes(probes_of({"a", "b", "a"}, 8));
  ASSERT_EQ(fabric.slot_count(), 3);
  EXPECT_EQ(fabric.host_count(), 2);
  EXPECT_EQ(fabric.host_of(0), fabric.host_of(2));
  EXPECT_EQ(fabric.cost(0, 2), 10U);
  EXPECT_NEAR(fabric.cost(0, 1), 80, 8);
}

TEST(Probes, AreDescribedBySenders) {
  Probes probes = probes_of({"a", "b"});
  probes.pairs[1].gb_per_s = 4;
  const std::string text = describe(probes);
  EXPECT_NE(text.find("GB/s, 1000000 bytes, one pair at a time, from each row's rank to each column's\n"
                      "             0        1\n"
                      "    0        -       10\n"
                      "    1        4        -\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace selvage::topo
