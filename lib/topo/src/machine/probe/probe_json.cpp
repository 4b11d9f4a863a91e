#include "text/json_value.hpp"
#include "text/text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/read_text_file.hpp>
#include <selvage/topo/probe.hpp>

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace selvage::topo {
namespace {

constexpr std::size_t most_sizes = 64;
constexpr std::size_t most_gpus = 4096;

/// Reads values and says of which file they are when they are wrong.
class ProbeReader {
 public:
  explicit ProbeReader(const std::string& name) : name_(name) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::input, fmt::format("{}: {}", name_, what));
  }
  [[nodiscard]] Json list(const Json& object, const char* key) const {
    const Json found = object.value(key, Json());
    if (!found.is_array()) fail(fmt::format("'{}' is not a list", key));
    return found;
  }
  [[nodiscard]] std::string text(const Json& object, const char* key) const {
    const Json found = object.is_object() ? object.value(key, Json()) : Json();
    if (!found.is_string()) fail(fmt::format("'{}' is not a text", key));
    return found.get<std::string>();
  }
  [[nodiscard]] std::vector<std::size_t> sizes(const Json& object, const char* key) const {
    const Json found = list(object, key);
    std::vector<std::size_t> sizes;
    for (const Json& size : found) {
      if (size.is_number_unsigned() && size.get<std::uint64_t>() > 0)
        sizes.push_back(size.get<std::size_t>());
    }
    if (sizes.size() != found.size() || sizes.empty() || sizes.size() > most_sizes)
      fail(fmt::format("'{}' is not a list of 1 to {} whole numbers of at least 1", key, most_sizes));
    return sizes;
  }
  [[nodiscard]] double number(const Json& found, const char* key, const std::string& what) const {
    if (!found.is_number() || !std::isfinite(found.get<double>()) || found.get<double>() <= 0)
      fail(fmt::format("'{}' of {} is not a number above 0", key, what));
    return found.get<double>();
  }
  [[nodiscard]] std::vector<double> numbers(const Json& pair, const char* key, std::size_t count,
                                            const std::string& what) const {
    const Json found = list(pair, key);
    if (found.size() != count) fail(fmt::format("'{}' of {} has not one number for each size", key, what));
    std::vector<double> numbers;
    for (const Json& each : found) numbers.push_back(number(each, key, what));
    return numbers;
  }
  void require_pair(const Json& pair, int from, int to, const std::string& what) const {
    if (!pair.is_object() || pair.value("from", Json()) != Json(from) || pair.value("to", Json()) != Json(to))
      fail(fmt::format("{} is not where it should be", what));
  }

 private:
  const std::string& name_;
};

Json to_json_value(const Figure<GpuProbes>& figure) {
  if (!figure.is_known()) return {{"unknown", figure.reason()}};
  const GpuProbes& probes = figure.value();
  Json gpus = Json::array();
  for (const ProbedGpu& gpu : probes.gpus)
    gpus.push_back({{"host", gpu.host}, {"uuid", gpu.uuid}, {"pci_bus_id", gpu.pci_bus_id}});
  Json pairs = Json::array();
  for (const ProbedGpuPair& pair : probes.pairs)
    pairs.push_back({{"from", pair.from},
                     {"to", pair.to},
                     {"put_us", pair.put_us},
                     {"store_gb_per_s", pair.store_gb_per_s},
                     {"copy_gb_per_s", pair.copy_gb_per_s},
                     {"copy_gb_per_s_together", pair.copy_gb_per_s_together}});
  return {{"bandwidth_bytes", probes.bandwidth_bytes}, {"gpus", gpus}, {"pairs", pairs}};
}

/// The pairs that there have to be, in their order.
std::vector<std::pair<int, int>> pairs_of(const std::vector<ProbedGpu>& gpus) {
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t from = 0; from < gpus.size(); ++from) {
    for (std::size_t to = 0; to < gpus.size(); ++to) {
      if (from != to && gpus[from].host == gpus[to].host)
        pairs.emplace_back(static_cast<int>(from), static_cast<int>(to));
    }
  }
  return pairs;
}

Figure<GpuProbes> from_json_value(const Json& all, std::size_t latency_sizes, const ProbeReader& reader) {
  if (!all.is_object()) reader.fail("'gpus' is not an object");
  if (all.contains("unknown")) return Figure<GpuProbes>::unknown(reader.text(all, "unknown"));
  GpuProbes probes{.bandwidth_bytes = reader.sizes(all, "bandwidth_bytes"), .gpus = {}, .pairs = {}};
  const Json gpus = reader.list(all, "gpus");
  if (gpus.size() > most_gpus) reader.fail(fmt::format("more than {} GPUs", most_gpus));
  for (const Json& gpu : gpus)
    probes.gpus.push_back({.host = reader.text(gpu, "host"),
                           .uuid = reader.text(gpu, "uuid"),
                           .pci_bus_id = reader.text(gpu, "pci_bus_id")});
  const auto wanted = pairs_of(probes.gpus);
  const Json pairs = reader.list(all, "pairs");
  if (pairs.size() != wanted.size())
    reader.fail(
        fmt::format("'pairs' is not a list of the {} pairs of GPUs that share a host", wanted.size()));
  for (const auto& [from, to] : wanted) {
    const Json& pair = pairs[probes.pairs.size()];
    const std::string what = fmt::format("the pair of GPUs {} and {}", from, to);
    reader.require_pair(pair, from, to, what);
    const bool reaches = pair.value("put_us", Json()) != Json::array();
    const std::size_t sizes = probes.bandwidth_bytes.size();
    probes.pairs.push_back(
        {.from = from,
         .to = to,
         .put_us = reader.numbers(pair, "put_us", reaches ? latency_sizes : 0, what),
         .store_gb_per_s = reader.numbers(pair, "store_gb_per_s", reaches ? sizes : 0, what),
         .copy_gb_per_s = reader.numbers(pair, "copy_gb_per_s", sizes, what),
         .copy_gb_per_s_together =
             reader.number(pair.value("copy_gb_per_s_together", Json()), "copy_gb_per_s_together", what)});
  }
  return Figure<GpuProbes>::known(std::move(probes), Source::probe);
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
  return Json{{"selvage_probe_version", 2},
              {"source", "probe"},
              {"hosts", probes.hosts},
              {"latency_bytes", probes.latency_bytes},
              {"bandwidth_bytes", probes.bandwidth_bytes},
              {"pairs", pairs},
              {"gpus", to_json_value(probes.gpus)}}
      .dump(2);
}

Probes probes_from_json(std::string_view text, const std::string& name) {
  const ProbeReader reader(name);
  const Json all = Json::parse(text, nullptr, false);
  if (!all.is_object()) reader.fail("it is not a JSON object");
  if (all.value("selvage_probe_version", Json()) != Json(2)) reader.fail("it holds no probes of version 2");
  Probes probes;
  const Json hosts = all.value("hosts", Json());
  if (!hosts.is_array() || hosts.empty() || hosts.size() > max_probed_ranks)
    reader.fail(fmt::format("'hosts' is not a list of 1 to {} names", max_probed_ranks));
  for (const Json& host : hosts) {
    if (!host.is_string()) reader.fail("a host is not a name");
    probes.hosts.push_back(host.get<std::string>());
  }
  probes.latency_bytes = reader.sizes(all, "latency_bytes");
  probes.bandwidth_bytes = reader.sizes(all, "bandwidth_bytes");
  const Json pairs = all.value("pairs", Json());
  const std::size_t ranks = probes.hosts.size();
  if (!pairs.is_array() || pairs.size() != ranks * (ranks - 1))
    reader.fail(fmt::format("'pairs' is not a list of the {} pairs of {} ranks", ranks * (ranks - 1), ranks));
  for (int from = 0; from < probes.rank_count(); ++from) {
    for (int to = 0; to < probes.rank_count(); ++to) {
      if (from == to) continue;
      const Json& pair = pairs[probes.pairs.size()];
      const std::string what = fmt::format("the pair of ranks {} and {}", from, to);
      reader.require_pair(pair, from, to, what);
      probes.pairs.push_back(
          {.from = from,
           .to = to,
           .latency_us = reader.numbers(pair, "latency_us", probes.latency_bytes.size(), what),
           .gb_per_s = reader.numbers(pair, "gb_per_s", probes.bandwidth_bytes.size(), what),
           .gb_per_s_together =
               reader.number(pair.value("gb_per_s_together", Json()), "gb_per_s_together", what)});
    }
  }
  probes.gpus = from_json_value(all.value("gpus", Json()), probes.latency_bytes.size(), reader);
  return probes;
}

Probes read_probes(const std::string& path) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  return probes_from_json(read_text_file(path, most_bytes), path);
}

}  // namespace selvage::topo
