#include "tool_support.hpp"

#include <selvage/topo/traffic.hpp>
#include <selvage/topo/traffic_file.hpp>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace selvage::topo {
namespace {

/// A folder of its own, removed at the end.
class TopoToolFiles : public TopoTool {
 protected:
  void SetUp() override {
    TopoTool::SetUp();
    folder_ = std::filesystem::temp_directory_path() / fmt::format("selvage-tool-{}", getpid());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    TopoTool::TearDown();
  }

  std::string file(const std::string& name, const std::string& text) {
    const std::string path = path_of(name);
    std::ofstream(path) << text;
    return path;
  }
  [[nodiscard]] std::string path_of(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(TopoToolFiles, MapsTrafficToATreeOfSwitchesAndWritesRankFiles) {
  const std::string traffic = file("t.csv",
                                   "from,to,host_bytes,host_messages,device_bytes,device_messages\n"
                                   "0,2,500,1,500,1\n1,3,1000,1,0,0\n0,1,1,1,0,0\n");
  const std::string tree = file("topology.conf", "SwitchName=s Nodes=n[0-1]\n");
  const std::string placement = path_of("p.json");
  const Ended mapped = tool(fmt::format(
      "map --traffic {} --fabric slurm:{} --slots-per-host 2 --output {} --json", traffic, tree, placement));
  ASSERT_EQ(mapped.exit_code, 0) << mapped.output;
  const auto json = nlohmann::json::parse(mapped.output);
  EXPECT_EQ(json.at("selvage_placement_version"), 1);
  EXPECT_EQ(json.at("ranks").size(), 4u);
  EXPECT_EQ(json.at("ranks")[0].at("host"), json.at("ranks")[2].at("host"));
  EXPECT_EQ(json.at("methods")[0].at("method"), "default");
  EXPECT_EQ(json.at("methods")[0].at("hop_bytes"), 20001.0);
  const Ended hosts = tool(fmt::format("rankfile --placement {} --format slurm", placement));
  EXPECT_EQ(hosts.exit_code, 0);
  EXPECT_TRUE(hosts.output == "n0\nn1\nn0\nn1\n" || hosts.output == "n1\nn0\nn1\nn0\n") << hosts.output;
  const Ended rank_file =
      tool(fmt::format("rankfile --placement {} --format openmpi --output {}", placement, path_of("r")));
  EXPECT_EQ(rank_file.exit_code, 0);
  EXPECT_EQ(rank_file.output, "");
  EXPECT_EQ(occurrences(shell("cat " + path_of("r")).output, "slot="), 4);
  const Ended as_json = tool(fmt::format("rankfile --placement {} --format mpich --json", placement));
  EXPECT_EQ(nlohmann::json::parse(as_json.output).at("format"), "mpich");
}

TEST_F(TopoToolFiles, BindsRanksToTheCoresOfAMachine) {
#ifndef SELVAGE_TEST_HWLOC
  test::say_skipped("the cores of a machine, since this is built without hwloc");
  GTEST_SKIP();
#endif
  const std::string placement = path_of("p.json");
  const Ended mapped = tool(fmt::format("map --pattern 2d-2x2 --fabric machine:{}/hwloc.xml --output {}",
                                        SELVAGE_TOPO_SAMPLES, placement));
  ASSERT_EQ(mapped.exit_code, 0) << mapped.output;
  EXPECT_EQ(occurrences(mapped.output, "cores: 1 per rank"), 1) << mapped.output;
  const Ended rank_file = tool(fmt::format("rankfile --placement {} --format openmpi", placement));
  EXPECT_EQ(occurrences(rank_file.output, "=node7 slot="), 4) << rank_file.output;
  const Ended cores = tool(fmt::format("rankfile --placement {} --format cores", placement));
  for (const char* core : {"0\n", "1\n", "2\n", "3\n"})
    EXPECT_EQ(occurrences(cores.output, core), 1) << cores.output;
}

TEST_F(TopoToolFiles, SaysWhereAFabricHasNoCores) {
  const std::string placement = path_of("p.json");
  const Ended mapped = tool(fmt::format("map --pattern 2d-2x2 --fabric fat-tree --output {}", placement));
  EXPECT_EQ(occurrences(mapped.output, "cores: unknown: the fabric tells of no cores"), 1) << mapped.output;
  const Ended cores = tool(fmt::format("rankfile --placement {} --format cores", placement));
  EXPECT_EQ(cores.exit_code, 2);
  EXPECT_NE(cores.output.find("the placement names no cores for rank 0: the fabric tells of no cores"),
            std::string::npos)
      << cores.output;
}

TEST_F(TopoToolFiles, SaysWhereNoLinksAreKnownOrUsed) {
  const char* unknown = "the fabric tells of no links";
  const Ended flat = tool("map --pattern 2d-2x2 --fabric flat --links");
  EXPECT_EQ(occurrences(flat.output, fmt::format("\nlinks: unknown: {}\n", unknown)), 1) << flat.output;
  const Ended as_json = tool("map --pattern 2d-2x2 --fabric flat --links --json");
  EXPECT_EQ(nlohmann::json::parse(as_json.output).at("links_unknown"), unknown);
  const Ended one_host = tool("map --pattern 2d-2x2 --fabric fat-tree --links");
  EXPECT_EQ(occurrences(one_host.output, "\nlinks: nothing is sent over any\n"), 1) << one_host.output;
}

TEST_F(TopoToolFiles, MapsOntoTheJobUnderMpirunAndPrintsOnce) {
  const Ended ended = tool_on(4, "map --pattern 2d-2x2 --links");
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_EQ(occurrences(ended.output, "4 ranks on machine, 4 ranks on 1 host"), 1) << ended.output;
  EXPECT_EQ(occurrences(ended.output, "chosen: default"), 1) << ended.output;
}

TEST_F(TopoToolFiles, MapsInAJobWhoseOtherHostsHaveNoFileOfTraffic) {
  (void)file("t.csv", "from,to,host_bytes,host_messages,device_bytes,device_messages\n0,1,500,1,0,0\n");
  const auto in_folders = [&](const std::string& of_first, const std::string& of_second) {
    return shell(
        fmt::format("{} 2 sh -c 'cd {}; [ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" = 0 ] || cd {}; "
                    "exec {} map --traffic t.csv'",
                    SELVAGE_MPIEXEC, of_first, of_second, SELVAGE_TOPO_TOOL));
  };
  const Ended found = in_folders(folder_.string(), "/");
  EXPECT_EQ(found.exit_code, 0) << found.output;
  EXPECT_EQ(occurrences(found.output, "chosen: default"), 1) << found.output;
  const Ended not_found = in_folders("/", folder_.string());
  EXPECT_NE(not_found.exit_code, 0) << not_found.output;
  EXPECT_EQ(occurrences(not_found.output, "selvage-topo: cannot read t.csv"), 1) << not_found.output;
}

TEST_F(TopoToolFiles, SavesProbesWhereTheFirstRankSays) {
  const auto saved_by = [&](const char* first, const char* second) {
    return shell(fmt::format(
        "{} 2 sh -c 'if [ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" = 0 ]; then SELVAGE_PROBES={}; "
        "else SELVAGE_PROBES={}; fi; export SELVAGE_PROBES; exec {} probe --no-gpus --save'",
        SELVAGE_MPIEXEC, first, second, SELVAGE_TOPO_TOOL));
  };
  const std::string place = path_of("probes.json");
  const Ended saved = saved_by(place.c_str(), "off");
  EXPECT_EQ(saved.exit_code, 0) << saved.output;
  EXPECT_TRUE(std::filesystem::exists(place));
  const Ended refused = saved_by("off", place.c_str());
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_EQ(occurrences(refused.output, "selvage-topo: --save has no place"), 1) << refused.output;
}

TEST_F(TopoToolFiles, LeavesSavedProbesWhereThereIsNothingToMeasure) {
  const std::string place = file("probes.json", "{}");
  const Ended refused =
      shell(fmt::format("SELVAGE_PROBES={} {} probe --no-gpus --save", place, SELVAGE_TOPO_TOOL));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(occurrences(refused.output, "have no links to save"), 1) << refused.output;
  EXPECT_EQ(shell("cat " + place).output, "{}");
}

TEST_F(TopoToolFiles, TakesAsManyRanksOnEachHostAsItIsTold) {
  const std::string tree = file("topology.conf", "SwitchName=s Nodes=n[0-3]\n");
  const auto mapped = [&](const std::string& fabric, const std::string& slots) {
    return tool(fmt::format("map --pattern 2d-3x2 --fabric {} --slots-per-host {} --output {}", fabric, slots,
                            path_of("p.json")));
  };
  const Ended ended = mapped(fmt::format("slurm:{} --nodes n1,n0", tree), "4,2");
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_EQ(occurrences(ended.output, "2 hosts of 2 to 4 slots"), 1) << ended.output;
  const Ended hosts = tool(fmt::format("rankfile --placement {} --format slurm", path_of("p.json")));
  EXPECT_EQ(occurrences(hosts.output, "n1\n"), 4) << hosts.output;
  EXPECT_EQ(occurrences(hosts.output, "n0\n"), 2) << hosts.output;
  const Ended too_many = mapped(fmt::format("slurm:{} --nodes n1,n0", tree), "4,2,2");
  EXPECT_EQ(too_many.exit_code, 2);
  EXPECT_EQ(occurrences(too_many.output, "3 numbers of slots for 2 hosts"), 1) << too_many.output;
  const Ended simulated = mapped("fat-tree", "4,2");
  EXPECT_EQ(simulated.exit_code, 2);
  EXPECT_EQ(occurrences(simulated.output, "needs --fabric slurm:FILE or scontrol"), 1) << simulated.output;
}

TEST_F(TopoToolFiles, NeverReplacesWhatItReads) {
  const std::string text = "from,to,host_bytes,host_messages,device_bytes,device_messages\n0,1,500,1,0,0\n";
  const std::string traffic = file("t.csv", text);
  std::filesystem::create_hard_link(traffic, path_of("same.csv"));
  const std::string placement = path_of("p.json");
  ASSERT_EQ(tool(fmt::format("map --traffic {} --fabric flat --output {}", traffic, placement)).exit_code, 0);
  for (const std::string& command :
       {fmt::format("map --traffic {} --fabric flat --output {}", traffic, path_of("same.csv")),
        fmt::format("rankfile --placement {0} --format slurm --output {0}", placement),
        fmt::format("simulate --pattern 2d-2x2 --records {0} --table {0}", path_of("r.json"))}) {
    const Ended refused = tool(command);
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_EQ(occurrences(refused.output, "which is the same file"), 1) << refused.output;
  }
  EXPECT_EQ(shell("cat " + traffic).output, text);
}

TEST_F(TopoToolFiles, RefusesSumsThatPass64Bits) {
  const std::string most = "18446744073709551615";
  const std::string traffic =
      file("t.csv", fmt::format("from,to,host_bytes,host_messages,device_bytes,device_messages\n"
                                "0,1,{0},1,0,0\n1,0,1000,1,0,0\n",
                                most));
  for (const char* form : {"", " --json"}) {
    const Ended refused = tool(fmt::format("profile --traffic {}{}", traffic, form));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(occurrences(refused.output, "pass 64 bits when they are added up"), 1) << refused.output;
  }
}

TEST_F(TopoToolFiles, ProbesAJobAndMapsOntoWhatItMeasured) {
  const std::string probes = path_of("probes.json");
  const Ended probed = tool_on(2, fmt::format("probe --output {}", probes));
  ASSERT_EQ(probed.exit_code, 0) << probed.output;
  EXPECT_EQ(occurrences(probed.output, "2 ranks, host memory, by MPI"), 1) << probed.output;
  const Ended mapped = tool(fmt::format("map --pattern 2d-2x1 --fabric probed:{}", probes));
  EXPECT_EQ(mapped.exit_code, 0) << mapped.output;
  EXPECT_NE(mapped.output.find("probed, 2 ranks on 1 host"), std::string::npos) << mapped.output;
  const Ended latency = tool(fmt::format("map --pattern 2d-2x1 --fabric probed:{} --metric latency", probes));
  EXPECT_EQ(latency.exit_code, 0) << latency.output;
  EXPECT_NE(latency.output.find("latency probed, 2 ranks on 1 host"), std::string::npos) << latency.output;
  const Ended level = tool(fmt::format("map --pattern 2d-2x1 --fabric probed:{} --metric level", probes));
  EXPECT_EQ(level.exit_code, 2);
  EXPECT_NE(level.output.find("probes tell no levels"), std::string::npos) << level.output;
}

TEST_F(TopoToolFiles, MapsOntoTheJobByWhatWasMeasured) {
  const std::string probes = path_of("probes.json");
  ASSERT_EQ(tool_on(2, fmt::format("probe --no-gpus --output {}", probes)).exit_code, 0);
  const Ended named = tool_on(2, fmt::format("map --pattern 2d-2x1 --probes {}", probes));
  EXPECT_NE(named.output.find(fmt::format("measured by {}, 2 ranks on 1 host", probes)), std::string::npos)
      << named.output;
  setenv("SELVAGE_PROBES", probes.c_str(), 1);
  const Ended saved = tool_on(2, "map --pattern 2d-2x1");
  setenv("SELVAGE_PROBES", "off", 1);
  const Ended without = tool_on(2, "map --pattern 2d-2x1");
  EXPECT_EQ(saved.output, named.output);
  EXPECT_NE(without.output.find("machine, 2 ranks on 1 host"), std::string::npos) << without.output;
  const Ended useless = tool(fmt::format("map --pattern 2d-2x1 --fabric flat --probes {}", probes));
  EXPECT_EQ(useless.exit_code, 2);
  EXPECT_NE(useless.output.find("--probes needs a machine"), std::string::npos) << useless.output;
  const Ended broken = tool_on(2, fmt::format("map --pattern 2d-2x1 --probes {}", file("b.json", "{}")));
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_EQ(occurrences(broken.output, "b.json: it holds no probes"), 1) << broken.output;
}

TEST_F(TopoToolFiles, PlacesInThreePhasesByAnyMethod) {
  const std::string traffic = file("t.csv",
                                   "from,to,host_bytes,host_messages,device_bytes,device_messages\n"
                                   "0,2,0,0,1000,1\n1,3,0,0,1000,1\n0,1,1,1,0,0\n");
  const auto hosts_of_ranks = [&](const std::string& phases) {
    const Ended mapped = tool(fmt::format(
        "map --traffic {} --fabric fat-tree --slots-per-host 2 --json --phases {}", traffic, phases));
    EXPECT_EQ(mapped.exit_code, 0) << mapped.output;
    const auto json = nlohmann::json::parse(mapped.output);
    EXPECT_EQ(json.at("method"), "phases");
    EXPECT_EQ(json.at("reason"), "hosts, cores and GPUs by " + phases);
    std::vector<int> hosts;
    for (const auto& rank : json.at("ranks")) hosts.push_back(rank.at("host").get<int>());
    return hosts;
  };
  const std::vector<int> together = hosts_of_ranks("portfolio,portfolio,portfolio");
  EXPECT_EQ(together[0], together[2]);
  EXPECT_EQ(together[1], together[3]);
  EXPECT_EQ(hosts_of_ranks("default,portfolio,greedy"), (std::vector<int>{0, 0, 1, 1}));
}

TEST_F(TopoToolFiles, ShowsWhatAProgramSent) {
  const std::string traffic = file("t.csv",
                                   "from,to,host_bytes,host_messages,device_bytes,device_messages\n"
                                   "0,2,500,1,500,1\n1,3,2000,1,0,0\n0,1,1,1,0,0\n");
  const Ended table = tool(fmt::format("profile --traffic {} --pairs 2", traffic));
  ASSERT_EQ(table.exit_code, 0) << table.output;
  EXPECT_NE(table.output.find("from host memory:   2501 bytes in 3 messages"), std::string::npos)
      << table.output;
  EXPECT_NE(table.output.find("and 1 pairs that sent less"), std::string::npos) << table.output;
  const Ended json = tool(fmt::format("profile --traffic {} --json", traffic));
  const auto parsed = nlohmann::json::parse(json.output);
  EXPECT_EQ(parsed.at("ranks"), 4);
  EXPECT_EQ(parsed.at("device").at("bytes"), 500);
  EXPECT_EQ(parsed.at("largest_pairs")[0].at("from"), 1);
}

TEST_F(TopoToolFiles, SaysWhereAProfileIsIncomplete) {
  const std::string traffic = file("t.h5", "");
  for (const bool is_incomplete : {false, true}) {
    write_traffic(traffic, Traffic(2, {{0, 1, {500, 1}, {}}}, {.is_incomplete = is_incomplete}));
    const std::string hint = "the profile is incomplete: a rank didn't reach MPI_Finalize";
    const Ended table = tool(fmt::format("profile --traffic {}", traffic));
    EXPECT_EQ(table.output.find(hint) != std::string::npos, is_incomplete) << table.output;
    const Ended placed = tool(fmt::format("map --traffic {} --fabric flat", traffic));
    EXPECT_EQ(placed.exit_code, 0) << placed.output;
    EXPECT_EQ(placed.output.find(hint) != std::string::npos, is_incomplete) << placed.output;
    const Ended json = tool(fmt::format("profile --traffic {} --json", traffic));
    EXPECT_EQ(nlohmann::json::parse(json.output).contains("complete"), is_incomplete);
  }
}

TEST_F(TopoToolFiles, SimulatesAndWritesRecordsAndTable) {
  const Ended ended = tool(fmt::format("simulate --suite quick --seeds 2 --records {} --table {}",
                                       path_of("r.json"), path_of("t.md")));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_EQ(shell("cat " + path_of("t.md")).output, ended.output);
  EXPECT_EQ(occurrences(ended.output, "nothing gained: all slots are equally far from each other"), 1)
      << ended.output;
  bool found = false;
  for (const auto& record : nlohmann::json::parse(shell("cat " + path_of("r.json")).output)) {
    EXPECT_LE(
        record.at("name").get<std::string>().ends_with("/portfolio") ? record.at("worst").get<double>() : 0,
        100);
    found |= record.at("name") == "topo/3d-4x4x4/fat-tree-fragmented/64/portfolio";
  }
  EXPECT_TRUE(found);
}

TEST_F(TopoToolFiles, SimulatesWhatAProgramSent) {
  std::string sent = "from,to,host_bytes,host_messages,device_bytes,device_messages\n";
  for (int rank = 0; rank < 4; ++rank) sent += fmt::format("{},{},1000,1,0,0\n", rank, rank + 4);
  const std::string traffic = file("crossed.csv", sent);
  const Ended ended =
      tool(fmt::format("simulate --traffic {} --grid 2x4 --fabric fat-tree --slots-per-host 4 --records {}",
                       traffic, path_of("r.json")));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_EQ(occurrences(ended.output, "| crossed | fat-tree | 8 | 1 |"), 1) << ended.output;
  EXPECT_EQ(occurrences(ended.output, "**10.0**"), 1)
      << "all pairs in a host cost 1, not 10: " << ended.output;
}

TEST_F(TopoToolFiles, EndsWithTwoAndOneMessageOnBadInput) {
  const std::string bad_traffic = file("bad.csv", "from,to\n");
  const std::string bad_json = file("bad.json", "{");
  const std::string no_tree = file("none.conf", "SwitchName=a\n");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"map", "one of --traffic FILE and --pattern NAME is needed"},
      {"map --pattern 2d-2x2 --traffic x", "one of --traffic FILE and --pattern NAME is needed"},
      {"map --pattern 2d-2x2 --fabric fat-tre", "did you mean 'fat-tree'?"},
      {"map --pattern 2d-2x2 --fabric scotch:/nowhere", "cannot read /nowhere"},
      {"map --pattern 2d-2x2 --fabric flat --routing fast", "--routing is 'fast'"},
      {"map --pattern 2d-2x2 --fabric flat --grid 3x3", "--grid 3x3 is not of the 4 ranks of the traffic"},
      {"map --pattern 2d-2x2 --fabric flat --nodes n0", "--nodes chooses from a topology.conf"},
      {"map --pattern 2d-2x2 --fabric flat --slots-per-host 0", "'0' is not a whole number from 1 to 131072"},
      {"map --pattern 2d-2x2 --fabric flat --slots-per-host many", "--slots-per-host"},
      {"map --pattern 2d-2x2", "4 ranks don't fit in 1 slot"},
      {"map --pattern 2d-2x2 --fabric flat --phases default,default",
       "not three methods, for hosts, cores and GPUs"},
      {"map --pattern 2d-2x2 --fabric flat --phases default,default,best",
       "--phases has 'best', none of portfolio, default, "},
      {"map --pattern 2d-2x2 --fabric flat --metric speed",
       "'speed', none of time, latency, bandwidth, level"},
      {"map --pattern 2d-2x2 --fabric flat --metric latency", "--metric latency needs measured figures"},
      {"map --patern 2d-2x2", "unknown option '--patern', did you mean '--pattern'?"},
      {"map --patern=2d-4x4x4-weighted-corners", "', did you mean '--pattern'?"},
      {"map --fabric flat --traffic " + bad_traffic, bad_traffic + ":1: the header is 'from,to' instead of"},
      {"map --pattern 2d-2x2 --fabric slurm:" + no_tree, no_tree + ":1: one of Nodes and Switches is needed"},
      {"simulate", "one of --suite NAME, --pattern NAME and --traffic FILE is needed"},
      {"simulate --suite papr", "did you mean 'paper'?"},
      {"simulate --pattern 2d-4x4 --seeds 0", "--seeds: '0' is not a whole number from 1 to 1000000"},
      {"rankfile", "--placement FILE and --format NAME are needed"},
      {"rankfile --placement /nowhere --format slurm", "cannot read /nowhere"},
      {"rankfile --format slurm --placement " + bad_json, bad_json + ": it is not JSON"},
      {"profile", "--traffic FILE is needed"},
      {"profile --traffic /nowhere.csv", "cannot read /nowhere.csv"},
      {"map --pattern 2d-2x1 --fabric probed:" + bad_json, bad_json + ": it is not a JSON object"},
      {"show map", "one subcommand at a time"},
  };
  for (const auto& [arguments, message] : cases) {
    const Ended ended = tool(arguments);
    EXPECT_EQ(ended.exit_code, 2) << arguments;
    EXPECT_EQ(occurrences(ended.output, "selvage-topo: "), 1) << arguments << "\n" << ended.output;
    EXPECT_NE(ended.output.find(message), std::string::npos) << arguments << "\n" << ended.output;
  }
}

TEST_F(TopoToolFiles, TakesDecimalWholeNumbersAlone) {
  const auto expect_refusal = [](const std::string& command, const std::string& option, const char* value) {
    const Ended ended = tool(fmt::format("{} {} '{}'", command, option, value));
    const std::string message =
        fmt::format("selvage-topo: {}: '{}' is not a whole number from ", option, value);
    EXPECT_EQ(ended.exit_code, 2) << option << " " << value;
    EXPECT_EQ(ended.output.find(message), 0U) << ended.output;
  };
  for (const char* value : {"-1", "9223372036854775808", "18446744073709551616", "1e400", "", " ", "0x10",
                            "5x", "1.5", "nan", "inf"})
    expect_refusal("map --pattern 2d-2x2 --fabric flat", "--seed", value);
  for (const char* value : {"-1", "0x10", "18446744073709551616"}) {
    expect_refusal("map --pattern 2d-2x2 --fabric flat", "--slots-per-host", value);
    expect_refusal("simulate --pattern 2d-4x4", "--slots-per-host", value);
    expect_refusal("simulate --pattern 2d-4x4", "--seeds", value);
    expect_refusal("profile --traffic /nowhere.csv", "--pairs", value);
  }
  EXPECT_EQ(tool("map --pattern 2d-2x2 --fabric flat --seed 9223372036854775807").exit_code, 0);
}

TEST_F(TopoToolFiles, EndsWithOneWhenAFileCannotBeWritten) {
  const Ended ended = tool("map --pattern 2d-2x2 --fabric flat --output /nowhere/p.json");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.output, "selvage-topo: cannot write /nowhere/p.json: No such file or directory\n");
}

TEST_F(TopoToolFiles, FindsOutThatAFileCannotBeWrittenBeforeItWorks) {
  for (const char* arguments :
       {"probe --output /nowhere/p.json", "map --traffic /nowhere.csv --output /nowhere/p.json",
        "simulate --traffic /nowhere.csv --table /nowhere/p.json"}) {
    const Ended ended = tool(arguments);
    EXPECT_EQ(ended.exit_code, 1) << arguments;
    EXPECT_EQ(ended.output, "selvage-topo: cannot write /nowhere/p.json: No such file or directory\n")
        << arguments;
  }
  const Ended all = tool_on(2, "probe --output /tmp");
  EXPECT_EQ(all.exit_code, 1);
  EXPECT_EQ(occurrences(all.output, "selvage-topo: cannot write /tmp: Is a directory"), 1) << all.output;
}

}  // namespace
}  // namespace selvage::topo
