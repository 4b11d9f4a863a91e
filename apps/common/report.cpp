// Everything that knows nlohmann-json.
#include "common/report.hpp"

#include <selvage/agreement.hpp>
#include <selvage/atomic_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace selvage::app {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  Json list = Json::array();
  for (const auto& element : std::get<ValueList>(value)) list.push_back(to_json(element));
  return list;
}

Json to_json(const Report::Number& number) {
  return std::visit([](const auto& value) { return Json(value); }, number);
}

Json facts_json(const Facts& facts) {
  Json object = Json::object();
  for (const auto& [name, value] : facts) object[name] = value;
  return object;
}

/// {"grid.cells": v} as {"grid": {"cells": v}}.
Json nested_input(const Input& input) {
  Json root = Json::object();
  for (const auto& [key, resolved] : input.resolved()) {
    std::string pointer = "/" + key;
    std::ranges::replace(pointer, '.', '/');
    root[Json::json_pointer(pointer)] = to_json(resolved.value);
  }
  return root;
}

Json input_origins(const Input& input) {
  Json origins = Json::object();
  for (const auto& [key, resolved] : input.resolved()) origins[key] = resolved.origin;
  return origins;
}

Json breakdown_json(const std::vector<Breakdown::Row>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back({{"phase", row.name},
                    {"calls", row.calls},
                    {"min_s", row.min_s},
                    {"avg_s", row.avg_s},
                    {"max_s", row.max_s}});
  }
  return list;
}

/// Text that isn't UTF-8 (a path, a host name) must not cost the report.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Report::Report(Session& session) : session_(session), environment_(environment_facts(session.comm())) {}

std::string Report::environment_text() const {
  std::size_t width = 0;
  for (const auto& [name, value] : environment_) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : environment_)
    text += fmt::format("{:<{}}  {}\n", name + ":", width + 1, value);
  return text;
}

void Report::print_environment() const {
  if (!session_.is_root()) return;
  fmt::print("{}", session_.command_line().json ? dump(facts_json(environment_)) : environment_text());
}

void Report::decide(std::string_view lines) {
  for (auto& line : split_lines(lines)) {
    session_.say("{}", line);
    decisions_.push_back(std::move(line));
  }
}

void Report::result(std::string name, Number value) {
  results_.emplace_back(std::move(name), std::move(value));
}

void Report::verify(std::string name, bool ok, std::string detail) {
  if (!ok) session_.verification_failed();
  checks_.push_back({std::move(name), ok, std::move(detail)});
}

void Report::breakdown(const Breakdown& breakdown) {
  if (breakdown.measures()) breakdown_ = breakdown.gather(session_.comm());
}

void Report::figure_of_merit(double value, std::string unit) {
  fom_.emplace(value, std::move(unit));
}

std::string Report::json() const {
  Json root;
  root["app"] = session_.info().name;
  root["version"] = session_.info().version;
  root["command"] = session_.command_line().as_typed;
  root["input"] = nested_input(session_.input());
  root["input_origin"] = input_origins(session_.input());
  root["environment"] = facts_json(environment_);
  root["decisions"] = decisions_;
  root["results"] = Json::object();
  for (const auto& [name, value] : results_) root["results"][name] = to_json(value);
  root["breakdown"] = breakdown_json(breakdown_);
  root["verify"] = Json::array();
  for (const auto& check : checks_) {
    root["verify"].push_back({{"name", check.name}, {"ok", check.ok}, {"detail", check.detail}});
  }
  root["fom"] = fom_ ? Json{{"value", fom_->first}, {"unit", fom_->second}} : Json(nullptr);
  return dump(root);
}

void Report::finish(const std::string& dir) {
  if (!dir.empty()) {
    const std::string path = (std::filesystem::path(dir) / "run.json").string();
    const auto write = [&] {
      if (session_.is_root()) replace_file(path, json());
    };
    together(session_.comm(), "writing " + path, write, io_timeout_ms());
  }
  if (!session_.is_root()) return;
  if (session_.command_line().json) {
    std::fputs(json().c_str(), stdout);
  } else {
    print_summary();
  }
  std::fflush(stdout);
}

void Report::print_summary() const {
  if (!breakdown_.empty()) {
    session_.say("{:<16}{:>10}{:>12}{:>12}{:>12}", "phase", "calls", "min s", "avg s", "max s");
  }
  for (const auto& row : breakdown_) {
    session_.say("{:<16}{:>10}{:>12.6f}{:>12.6f}{:>12.6f}", row.name, row.calls, row.min_s, row.avg_s,
                 row.max_s);
  }
  for (const auto& check : checks_) {
    fmt::print("VERIFY {} {}: {}\n", check.ok ? "ok" : "failed", check.name, check.detail);
  }
  if (fom_) fmt::print("FOM: {:.6g} {}\n", fom_->first, fom_->second);
}

}  // namespace selvage::app
