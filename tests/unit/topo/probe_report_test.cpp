#include "machine/probe/tournament.hpp"
#include "sample_machine.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace selvage::topo {
namespace {

/// Every pair of these takes the same, but for pairs on different hosts.
Probes probes_of(const std::vector<std::string>& hosts, double slower = 1) {
  Probes probes{.hosts = hosts,
                .latency_bytes = {8},
                .bandwidth_bytes = {2048, 1'000'000},
                .pairs = {},
                .gpus = Figure<GpuProbes>::unknown("no GPUs in a test")};
  for (int from = 0; from < probes.rank_count(); ++from) {
    for (int to = 0; to < probes.rank_count(); ++to) {
      if (from == to) continue;
      const bool is_apart = hosts[static_cast<std::size_t>(from)] != hosts[static_cast<std::size_t>(to)];
      const double rate = is_apart ? 10 / slower : 10;
      probes.pairs.push_back({.from = from,
                              .to = to,
                              .latency_us = {0.001},
                              .gb_per_s = {rate / 4, rate},
                              .gb_per_s_together = rate / 2});
    }
  }
  return probes;
}

/// GPUs a0, a1 and a2 on host a, b0 on host b; a2 can only be copied to and from.
GpuProbes gpu_probes() {
  GpuProbes probes{.bandwidth_bytes = {2048, 1 << 20}, .gpus = {}, .pairs = {}};
  for (const std::string name : {"a0", "a1", "a2", "b0"})
    probes.gpus.push_back({.host = name.substr(0, 1),
                           .uuid = "GPU-" + name,
                           .pci_bus_id = "0000:0" + name.substr(1) + ":00.0"});
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      if (from == to) continue;
      const bool reaches = from != 2 && to != 2;
      probes.pairs.push_back({.from = from,
                              .to = to,
                              .put_us = reaches ? std::vector{2.5} : std::vector<double>{},
                              .store_gb_per_s = reaches ? std::vector{20.0, 350.0} : std::vector<double>{},
                              .copy_gb_per_s = {1.0, reaches ? 390.0 : 20.0},
                              .copy_gb_per_s_together = 380});
    }
  }
  return probes;
}

/// Ranks with a0, a1, a2 and b0.
Machine machine_with_gpus() {
  std::vector<RankPlace> ranks;
  for (const std::string name : {"a0", "a1", "a2", "b0"})
    ranks.push_back(
        rank_with_gpu(name.front() == 'a' ? 0 : 1, "0000:0" + name.substr(1) + ":00.0", "GPU-" + name));
  return machine_of({host_named("a"), host_named("b")}, ranks);
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
  Probes with_gpus = probes_of({"a", "b"});
  with_gpus.gpus = Figure<GpuProbes>::known(gpu_probes(), Source::probe);
  EXPECT_EQ(probes_from_json(to_json(with_gpus), "p.json"), with_gpus);
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
      {"{}", "it holds no probes of version 2"},
      {with("\"selvage_probe_version\": 2", "\"selvage_probe_version\": 1"),
       "it holds no probes of version 2"},
      {with("\"hosts\"", "\"ghosts\""), "'hosts' is not a list of 1 to 256 names"},
      {with("\"b\"", "3"), "a host is not a name"},
      {with("\"b\"", "\"b\", \"c\""), "'pairs' is not a list of the 6 pairs of 3 ranks"},
      {with("    2048,\n", "    0,\n"),
       "'bandwidth_bytes' is not a list of 1 to 64 whole numbers of at least 1"},
      {with("    8\n", "    8, 9\n"),
       "'latency_us' of the pair of ranks 0 and 1 has not one number for each size"},
      {with("\"to\": 1", "\"to\": 0"), "the pair of ranks 0 and 1 is not where it should be"},
      {with("        10.0\n", "        -1\n"),
       "'gb_per_s' of the pair of ranks 0 and 1 is not a number above 0"},
      {with("        0.001\n", "        null\n"),
       "'latency_us' of the pair of ranks 0 and 1 is not a number above 0"},
      {with("\"gpus\"", "\"cpus\""), "'gpus' is not an object"},
      {with("\"no GPUs in a test\"", "3"), "'unknown' is not a text"}};
  for (const auto& [text, message] : cases) {
    const Error error = refusal(text);
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.message(), "p.json: " + message);
  }
}

/// Whatever a file holds, it is read or refused.
TEST(Probes, OfDamagedFilesAreErrors) {
  Probes probes = probes_of({"a", "b", "a"});
  probes.gpus = Figure<GpuProbes>::known(gpu_probes(), Source::probe);
  const std::string good = to_json(probes);
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

TEST(Probes, CostByLatencyOrBandwidth) {
  Probes probes = probes_of({"a", "b", "c"});
  for (ProbedPair& pair : probes.pairs) {
    const bool is_with_last = pair.from == 2 || pair.to == 2;
    pair.latency_us.front() = is_with_last ? 40 : 2;
    pair.gb_per_s.back() = is_with_last ? 50 : 10;
  }
  // 2 us and 100 us for 1 MB between the first two, 40 us and 20 us with the last one.
  const Fabric latency = fabric_from_probes(probes, LinkMetric::latency);
  EXPECT_EQ(latency.cost(0, 1), 10U);
  EXPECT_NEAR(latency.cost(0, 2), 200, 20);
  EXPECT_EQ(latency.description(), "latency probed, 3 ranks on 3 hosts");
  const Fabric bandwidth = fabric_from_probes(probes, LinkMetric::bandwidth);
  EXPECT_NEAR(bandwidth.cost(0, 1), 50, 5);
  EXPECT_EQ(bandwidth.cost(0, 2), 10U);
  const Fabric time = fabric_from_probes(probes);
  EXPECT_NEAR(time.cost(0, 1), 17, 1.7);
  EXPECT_EQ(time.cost(1, 2), 10U);
  try {
    static_cast<void>(fabric_from_probes(probes, LinkMetric::level));
    FAIL() << "probes know no levels";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

TEST(Probes, AreDescribedBySenders) {
  Probes probes = probes_of({"a", "b"});
  probes.pairs[1].gb_per_s.back() = 4;
  const std::string text = describe(probes);
  EXPECT_NE(text.find("GB/s, 1000000 B, one pair at a time, from each row's rank to each column's\n"
                      "             0        1\n"
                      "    0        -       10\n"
                      "    1        4        -\n"),
            std::string::npos)
      << text;
}

TEST(Probes, DescribeGpusAndWhatIsUnknownOfThem) {
  Probes probes = probes_of({"a", "b"});
  EXPECT_NE(describe(probes).find("\nGPUs: no GPUs in a test\n"), std::string::npos) << describe(probes);
  probes.gpus = Figure<GpuProbes>::known(gpu_probes(), Source::probe);
  EXPECT_NE(describe(probes).find(
                "GB/s, 1 MB, stores by all multiprocessors, from each row's GPU to each column's\n"
                "             0        1        2        3\n"
                "    0        -      350        -        -\n"),
            std::string::npos)
      << describe(probes);
}

TEST(MeasuredLinks, AreThoseBetweenGpusWhereBothShareAHost) {
  Probes probes = probes_of({"a", "b"});
  probes.gpus = Figure<GpuProbes>::known(gpu_probes(), Source::probe);
  const Machine machine = machine_with_gpus();
  const auto near = MeasuredLinks(machine, probes).between(0, 1);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->latency_us, 2.5);
  EXPECT_EQ(near->gb_per_s, 390);
  EXPECT_FALSE(MeasuredLinks(machine, probes).between(0, 2)) << "no kernel reaches it";
  const auto far = MeasuredLinks(machine, probes).between(0, 3);
  ASSERT_TRUE(far);
  EXPECT_EQ(far->latency_us, 0.001);
  EXPECT_EQ(far->gb_per_s, 10);
  probes.gpus = Figure<GpuProbes>::unknown("none");
  EXPECT_FALSE(MeasuredLinks(machine, probes).between(0, 1))
      << "messages between host memory say nothing of GPUs";
}

TEST(MeasuredLinks, MakeAFabricOfAJobOnTheSameHosts) {
  const Machine machine = machine_of({host_named("b"), host_named("a"), host_named("c")},
                                     {rank_on(0, {0}), rank_on(1, {0}), rank_on(0, {1}), rank_on(2, {0})});
  Probes slow = probes_of({"a", "b", "c"});
  for (ProbedPair& pair : slow.pairs) {
    if (slow.hosts[static_cast<std::size_t>(pair.from)] == "c" ||
        slow.hosts[static_cast<std::size_t>(pair.to)] == "c")
      pair.gb_per_s.back() = 1;
  }
  const Fabric uneven = fabric_from_machine(machine, slow, "p.json");
  EXPECT_EQ(uneven.description(), "measured by p.json for 5 of 6 pairs of ranks, 4 ranks on 3 hosts");
  EXPECT_EQ(uneven.host_of(0), uneven.host_of(2));
  EXPECT_NEAR(uneven.cost(0, 3), 10 * uneven.cost(0, 1), uneven.cost(0, 1));
  EXPECT_NE(uneven.network(), nullptr) << "what links carry is still known";
  const Fabric latency = fabric_from_machine(machine, slow, "p.json", LinkMetric::latency);
  EXPECT_EQ(latency.description(),
            "latency measured by p.json for 5 of 6 pairs of ranks, 4 ranks on 3 hosts");
  EXPECT_EQ(latency.cost(0, 3), latency.cost(0, 1)) << "only the bandwidth of c is less";
  const Fabric level = fabric_from_machine(machine, slow, "p.json", LinkMetric::level);
  EXPECT_EQ(level.description(), fabric_from_machine(machine).description());
  EXPECT_EQ(level.cost(0, 3), fabric_from_machine(machine).cost(0, 3));
}

TEST(MeasuredLinks, ScaleNominalCostsWhereTheyLack) {
  const Machine machine = machine_of({host_named("b"), host_named("a")},
                                     {rank_on(0, {0}), rank_on(1, {0}), rank_on(0, {1}), rank_on(1, {1})});
  const Fabric fabric = fabric_from_machine(machine, probes_of({"a", "b"}), "p.json");
  EXPECT_EQ(fabric.cost(0, 2), 10U) << "one rank of each host was probed";
  EXPECT_NEAR(fabric.cost(0, 1), 100, 10) << "ten times a pair of one host, as where nothing is measured";
}

TEST(MeasuredLinks, LeaveAJobAloneThatTheyDoNotKnow) {
  const Machine machine = machine_of({host_named("x"), host_named("y")}, {rank_on(0, {0}), rank_on(1, {0})});
  const Fabric fabric = fabric_from_machine(machine, probes_of({"a", "b"}), "p.json");
  EXPECT_EQ(fabric.description(), "machine, 2 ranks on 2 hosts");
  EXPECT_EQ(fabric.cost(0, 1), 20U);
}

TEST(Tournaments, LetEachTwoMeetOnce) {
  for (int players = 1; players < 10; ++players) {
    std::vector<int> met(static_cast<std::size_t>(players * players));
    for (int round = 0; round < tournament_rounds(players); ++round) {
      for (int player = 0; player < players; ++player) {
        const int partner = tournament_partner(player, round, players);
        EXPECT_EQ(tournament_partner(partner, round, players), player);
        ++met[static_cast<std::size_t>(player * players + partner)];
      }
    }
    for (int a = 0; a < players; ++a) {
      for (int b = 0; b < players; ++b) {
        const int wanted = a == b ? met[static_cast<std::size_t>(a * players + a)] : 1;
        EXPECT_EQ(met[static_cast<std::size_t>(a * players + b)], wanted) << players << " players";
      }
    }
  }
}

}  // namespace
}  // namespace selvage::topo
