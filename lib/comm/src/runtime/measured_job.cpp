#include "measured_job.hpp"

#include "context_state.hpp"
#include "settings_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace selvage::detail {
namespace {

constexpr const char* file_name = "probes.json";

/// "2.0", or "2.0 to 2.4" where that shows.
std::string range(double least, double most) {
  const std::string first = fmt::format("{:.3g}", least);
  const std::string last = fmt::format("{:.3g}", most);
  return first == last ? first : fmt::format("{} to {}", first, last);
}

}  // namespace

std::string MeasuredJob::describe_link(int from, int to) const {
  if (!measured || from == to) return {};
  const auto link = measured->links.between(from, to);
  if (!link) return {};
  return fmt::format("link {:.3g} us, {:.3g} GB/s ({})", link->latency_us, link->gb_per_s, path);
}

std::string MeasuredJob::describe_links() const {
  if (!measured || measured->links.rank_count() < 2) return {};
  std::optional<topo::MeasuredLink> least;
  topo::MeasuredLink most;
  for (int from = 0; from < measured->links.rank_count(); ++from) {
    for (int to = 0; to < measured->links.rank_count(); ++to) {
      if (from == to) continue;
      const auto link = measured->links.between(from, to);
      if (!link) return {};
      if (!least) least = most = *link;
      least->latency_us = std::min(least->latency_us, link->latency_us);
      least->gb_per_s = std::min(least->gb_per_s, link->gb_per_s);
      most.latency_us = std::max(most.latency_us, link->latency_us);
      most.gb_per_s = std::max(most.gb_per_s, link->gb_per_s);
    }
  }
  return fmt::format("links {} us, {} GB/s ({})", range(least->latency_us, most.latency_us),
                     range(least->gb_per_s, most.gb_per_s), path);
}

namespace {

MeasuredJob load(ContextState& context, std::string_view operation) {
  const SettingsText file = read_settings(
      context, probes_variable, file_name,
      [](const std::string& path) { return topo::to_json(topo::read_probes(path)); }, operation);
  MeasuredJob job{.measured = std::nullopt, .path = file.path, .remark = file.remark};
  if (file.text.empty()) return job;
  topo::Probes probes = topo::probes_from_json(file.text, file.path);
  const topo::MeasuredLinks links(context.machine(), probes);
  job.measured.emplace(MeasuredJob::Measured{.probes = std::move(probes), .links = links});
  return job;
}

}  // namespace

const MeasuredJob& measured_job(ContextState& context, std::string_view operation) {
  return context.kept<MeasuredJob>("measured links",
                                   [&] { return std::make_shared<MeasuredJob>(load(context, operation)); });
}

}  // namespace selvage::detail
