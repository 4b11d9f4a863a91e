#include "command.hpp"
#include "number_option.hpp"
#include "traffic_option.hpp"

#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/traffic_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace selvage::topo::tool {
namespace {

using Json = nlohmann::ordered_json;

struct ProfileOptions {
  std::string traffic;
  int pairs = 10;
  bool as_json = false;
};

struct Totals {
  Amount host;
  Amount device;
};
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    throw Error(ErrorKind::input, "the profile's bytes or messages pass 64 bits when they are added up");
  return sum;
}

Totals totals_of(const Traffic& traffic) {
  Totals totals;
  const auto add = [](Amount& total, const Amount& one) {
    total = {.bytes = sum_of(total.bytes, one.bytes), .messages = sum_of(total.messages, one.messages)};
  };
  for (const TrafficEntry& entry : traffic.entries()) {
    add(totals.host, entry.host);
    add(totals.device, entry.device);
  }
  return totals;
}

std::uint64_t bytes_of(const TrafficEntry& entry) {
  return sum_of(entry.host.bytes, entry.device.bytes);
}

/// Those that send most, at most so many.
std::vector<TrafficEntry> largest_pairs(const Traffic& traffic, int most) {
  std::vector<TrafficEntry> pairs = traffic.entries();
  std::ranges::stable_sort(pairs, std::ranges::greater(), bytes_of);
  pairs.resize(std::min(pairs.size(), static_cast<std::size_t>(most)));
  return pairs;
}

Json json_of(const Traffic& traffic, const ProfileOptions& options) {
  const TrafficFacts& facts = traffic.facts();
  const Totals totals = totals_of(traffic);
  const auto amount = [](const Amount& of) { return Json{{"bytes", of.bytes}, {"messages", of.messages}}; };
  Json json{
      {"ranks", traffic.rank_count()}, {"host", amount(totals.host)}, {"device", amount(totals.device)}};
  if (facts.mpi_library) json["library"] = *facts.mpi_library;
  if (facts.seconds) json["seconds"] = *facts.seconds;
  if (facts.communication_seconds) json["communication_seconds"] = *facts.communication_seconds;
  if (facts.is_incomplete) json["complete"] = false;
  if (!facts.host_histogram.empty()) json["host"]["histogram"] = facts.host_histogram;
  if (!facts.device_histogram.empty()) json["device"]["histogram"] = facts.device_histogram;
  json["largest_pairs"] = Json::array();
  for (const TrafficEntry& entry : largest_pairs(traffic, options.pairs))
    json["largest_pairs"].push_back({{"from", entry.from},
                                     {"to", entry.to},
                                     {"host", amount(entry.host)},
                                     {"device", amount(entry.device)}});
  return json;
}

void append_histogram(std::string& text, const TrafficFacts& facts) {
  const auto count = [](const std::vector<std::uint64_t>& of, std::size_t i) {
    return of.empty() ? std::uint64_t{0} : of[i];
  };
  if (facts.host_histogram.empty() && facts.device_histogram.empty()) return;
  text += fmt::format("\n{:>22} {:>16} {:>16}\n", "bytes of a message", "from host", "from device");
  for (std::size_t i = 0; i < TrafficFacts::histogram_size; ++i) {
    const std::uint64_t host = count(facts.host_histogram, i);
    const std::uint64_t device = count(facts.device_histogram, i);
    if (host + device > 0)
      text +=
          fmt::format("{:>22} {:>16} {:>16}\n", fmt::format("from {}", std::uint64_t{1} << i), host, device);
  }
}

std::string table_of(const Traffic& traffic, const ProfileOptions& options) {
  const TrafficFacts& facts = traffic.facts();
  const Totals totals = totals_of(traffic);
  std::string text = fmt::format("{}{}\n", counted(traffic.rank_count(), "rank"),
                                 facts.mpi_library ? fmt::format(", {}", *facts.mpi_library) : "");
  text += incomplete_text(facts);
  if (facts.seconds && facts.communication_seconds && *facts.seconds > 0)
    text += fmt::format("{:.3f} s, of which {:.3f} s ({:.1f} %) in MPI\n", *facts.seconds,
                        *facts.communication_seconds, 100 * *facts.communication_seconds / *facts.seconds);
  text +=
      fmt::format("from host memory:   {} bytes in {} messages\n", totals.host.bytes, totals.host.messages);
  text += fmt::format("from device memory: {} bytes in {} messages\n", totals.device.bytes,
                      totals.device.messages);
  append_histogram(text, facts);
  text += fmt::format("\n{:>6} {:>6} {:>16} {:>12} {:>16} {:>12}\n", "from", "to", "host bytes", "messages",
                      "device bytes", "messages");
  for (const TrafficEntry& entry : largest_pairs(traffic, options.pairs))
    text += fmt::format("{:>6} {:>6} {:>16} {:>12} {:>16} {:>12}\n", entry.from, entry.to, entry.host.bytes,
                        entry.host.messages, entry.device.bytes, entry.device.messages);
  if (traffic.entries().size() > static_cast<std::size_t>(options.pairs))
    text += fmt::format("and {} pairs that sent less\n",
                        traffic.entries().size() - static_cast<std::size_t>(options.pairs));
  return text;
}

std::string reported(const ProfileOptions& options, bool speaks) {
  if (options.traffic.empty()) throw Error(ErrorKind::usage, "--traffic FILE is needed");
  if (!speaks) return "";
  const Traffic traffic = read_traffic(options.traffic);
  return options.as_json ? json_of(traffic, options).dump(2) + '\n' : table_of(traffic, options);
}

}  // namespace

Work declare_profile(CLI::App& app) {
  const auto options = std::make_shared<ProfileOptions>();
  app.add_option("--traffic", options->traffic,
                 "What a program left that ran under libselvage_profile.so (HDF5), or CSV (*.csv)");
  app.add_option("--pairs", options->pairs, "How many pairs of ranks to list, those that sent most")
      ->transform(whole_number_from(0, std::numeric_limits<int>::max()))
      ->capture_default_str();
  app.add_flag("--json", options->as_json, "Print JSON instead of tables")->disable_flag_override();
  return [options](bool speaks) { return reported(*options, speaks); };
}

}  // namespace selvage::topo::tool
