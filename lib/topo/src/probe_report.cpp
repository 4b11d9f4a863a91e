#include <selvage/error.hpp>
#include <selvage/topo/probe.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace selvage::topo {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}: {}", name, what));
}

std::size_t size_of(const Json& all, const char* key, const std::string& name) {
  const auto found = all.find(key);
  if (found == all.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() == 0)
    fail(name, fmt::format("'{}' is not a whole number of at least 1", key));
  return found->get<std::size_t>();
}

double figure_of(const Json& pair, const char* key, const std::string& what, const std::string& name) {
  const auto found = pair.find(key);
  const bool is_number = found != pair.end() && found->is_number();
  if (!is_number || !std::isfinite(found->get<double>()) || found->get<double>() <= 0)
    fail(name, fmt::format("'{}' of {} is not a number above 0", key, what));
  return found->get<double>();
}

using Figure = double ProbedPair::*;

/// Rows are senders.
void append_matrix(std::string& text, const Probes& probes, const std::string& title, Figure figure) {
  text += fmt::format("\n{}, from each row's rank to each column's\n     ", title);
  for (int to = 0; to < probes.rank_count(); ++to) text += fmt::format("{:>9}", to);
  auto pair = probes.pairs.begin();
  for (int from = 0; from < probes.rank_count(); ++from) {
    text += fmt::format("\n{:>5}", from);
    for (int to = 0; to < probes.rank_count(); ++to)
      text += from == to ? fmt::format("{:>9}", "-") : fmt::format("{:>9.3g}", (*pair++).*figure);
  }
  text += '\n';
}

}  // namespace

std::string to_json(const Probes& probes) {
  Json pairs = Json::array();
  for (const ProbedPair& pair : probes.pairs)
    pairs.push_back({{"from", pair.from},
                     {"to", pair.to},
                     {"latency_us", pair.latency_us},
                     {"gb_per_s", pair.gb_per_s},
                     {"gb_per_s_together", pair.gb_per_s_together}});
  return Json{{"selvage_probe_version", 1},
              {"source", "probe"},
              {"hosts", probes.hosts},
              {"latency_bytes", probes.latency_bytes},
              {"bandwidth_bytes", probes.bandwidth_bytes},
              {"pairs", pairs}}
      .dump(2);
}

Probes probes_from_json(std::string_view text, const std::string& name) {
  const Json all = Json::parse(text, nullptr, false);
  if (!all.is_object()) fail(name, "it is not a JSON object");
  if (all.value("selvage_probe_version", Json()) != Json(1)) fail(name, "it holds no probes of version 1");
  Probes probes;
  const Json hosts = all.value("hosts", Json());
  if (!hosts.is_array() || hosts.empty() || hosts.size() > max_probed_ranks)
    fail(name, fmt::format("'hosts' is not a list of 1 to {} names", max_probed_ranks));
  for (const Json& host : hosts) {
    if (!host.is_string()) fail(name, "a host is not a name");
    probes.hosts.push_back(host.get<std::string>());
  }
  probes.latency_bytes = size_of(all, "latency_bytes", name);
  probes.bandwidth_bytes = size_of(all, "bandwidth_bytes", name);
  const Json pairs = all.value("pairs", Json());
  const std::size_t ranks = probes.hosts.size();
  if (!pairs.is_array() || pairs.size() != ranks * (ranks - 1))
    fail(name, fmt::format("'pairs' is not a list of the {} pairs of {} ranks", ranks * (ranks - 1), ranks));
  for (int from = 0; from < probes.rank_count(); ++from) {
    for (int to = 0; to < probes.rank_count(); ++to) {
      if (from == to) continue;
      const Json& pair = pairs[probes.pairs.size()];
      const std::string what = fmt::format("the pair of ranks {} and {}", from, to);
      if (!pair.is_object() || pair.value("from", Json()) != Json(from) ||
          pair.value("to", Json()) != Json(to))
        fail(name, fmt::format("{} is not where it should be", what));
      probes.pairs.push_back({.from = from,
                              .to = to,
                              .latency_us = figure_of(pair, "latency_us", what, name),
                              .gb_per_s = figure_of(pair, "gb_per_s", what, name),
                              .gb_per_s_together = figure_of(pair, "gb_per_s_together", what, name)});
    }
  }
  return probes;
}

std::string describe(const Probes& probes) {
  std::string text = fmt::format("{} ranks, host memory, by MPI\n", probes.rank_count());
  for (int rank = 0; rank < probes.rank_count(); ++rank)
    text += fmt::format("{:>5}  {}\n", rank, probes.hosts[static_cast<std::size_t>(rank)]);
  if (probes.pairs.empty()) return text;
  append_matrix(text, probes, fmt::format("latency, us, {} bytes", probes.latency_bytes),
                &ProbedPair::latency_us);
  append_matrix(text, probes, fmt::format("GB/s, {} bytes, one pair at a time", probes.bandwidth_bytes),
                &ProbedPair::gb_per_s);
  append_matrix(text, probes, "the same, all ranks at once, each with one other",
                &ProbedPair::gb_per_s_together);
  return text;
}

}  // namespace selvage::topo
