#include "simulation_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <selvage_build_facts.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace selvage::topo::tool {
namespace {

using Json = nlohmann::ordered_json;

/// Digits beyond this say nothing and would differ between processors.
double rounded(double percent) {
  return std::round(percent * 100) / 100;
}

Json record(const SimulationResult& result, const MethodFigures& method) {
  const SimulationRequest& request = result.request;
  const double spread =
      method.hop_bytes > 0 ? (method.most_hop_bytes - method.least_hop_bytes) / method.hop_bytes : 0;
  Json out = {
      {"name", fmt::format("topo/{}/{}/{}/{}", request.pattern, request.fabric, result.ranks, method.method)},
      {"value", rounded(method.hop_bytes)},
      {"unit", "% of the default's hop-bytes"},
      {"better", "lower"},
      {"worst", rounded(method.most_hop_bytes)},
      {"verified", method.is_verified},
      {"commit", build_facts::commit},
      {"hardware", "simulated"},
      {"repetitions", request.seeds},
      {"spread", rounded(spread)}};
  if (method.link_load) {
    out["link_load_percent"] = rounded(*method.link_load);
    out["worst_link_load_percent"] = rounded(*method.most_link_load);
  }
  if (method.time) out["time_percent"] = rounded(*method.time);
  if (method.method != "portfolio") return out;
  Json peers = Json::object();
  for (const MethodFigures& other : result.methods) {
    if (other.method != method.method) peers[other.method] = rounded(other.hop_bytes);
  }
  out["peers"] = std::move(peers);
  out["choice"] = result.choice;
  if (!result.remark.empty()) out["remark"] = result.remark;
  return out;
}

const MethodFigures* find(const SimulationResult& result, const std::string& method) {
  for (const MethodFigures& figures : result.methods) {
    if (figures.method == method) return &figures;
  }
  return nullptr;
}

std::string cell(const std::optional<double>& percent) {
  return percent ? fmt::format("{:.1f}", *percent) : "";
}

/// Methods in the order in which they first occur, without the default, which is 100, and the portfolio.
std::vector<std::string> method_columns(const std::vector<SimulationResult>& results) {
  std::vector<std::string> columns;
  for (const SimulationResult& result : results) {
    for (const MethodFigures& figures : result.methods) {
      const bool is_known = std::find(columns.begin(), columns.end(), figures.method) != columns.end();
      if (!is_known && figures.method != "default" && figures.method != "portfolio")
        columns.push_back(figures.method);
    }
  }
  return columns;
}

}  // namespace

std::string records_json(const std::vector<SimulationResult>& results) {
  std::string text;
  for (const SimulationResult& result : results) {
    // A line each: there are many, and a changed one is to show as one line.
    for (const MethodFigures& method : result.methods) {
      fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "[\n" : ",\n",
                     record(result, method).dump());
    }
  }
  return text.empty() ? "[]\n" : fmt::format("{}\n]\n", text);
}

std::string results_table(const std::vector<SimulationResult>& results) {
  const std::vector<std::string> columns = method_columns(results);
  std::string text = "| pattern | fabric | ranks | seeds |";
  for (const std::string& column : columns) fmt::format_to(std::back_inserter(text), " {} |", column);
  text += " portfolio | worst | link load, worst | time | choice |\n|---|---|---|---|";
  for (std::size_t i = 0; i < columns.size(); ++i) text += "---|";
  text += "---|---|---|---|---|\n";
  for (const SimulationResult& result : results) {
    fmt::format_to(std::back_inserter(text), "| {} | {} | {} | {} |", result.request.pattern,
                   result.request.fabric, result.ranks, result.request.seeds);
    for (const std::string& column : columns) {
      const MethodFigures* figures = find(result, column);
      fmt::format_to(std::back_inserter(text), " {} |", figures == nullptr ? "" : cell(figures->hop_bytes));
    }
    const MethodFigures& portfolio = result.methods.back();
    fmt::format_to(std::back_inserter(text), " **{:.1f}** | {:.1f} | {} | {} | {} |\n", portfolio.hop_bytes,
                   portfolio.most_hop_bytes, cell(portfolio.most_link_load), cell(portfolio.time),
                   result.remark.empty() ? result.choice : result.remark);
  }
  return text;
}

}  // namespace selvage::topo::tool
