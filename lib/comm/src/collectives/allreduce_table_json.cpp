// Reads and writes the JSON of the table.
#include "allreduce_table.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace selvage::detail {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "selvage allreduce table 1";

/// A value of the file, with its position there.
class Place {
 public:
  Place(const Json& value, const std::string& path, std::string name)
      : value_(value), path_(path), name_(std::move(name)) {}

  [[noreturn]] void expect(const std::string& what) const {
    throw Error(ErrorKind::input,
                fmt::format("allreduce table {}: {} must be {}, but is {}", path_, name_, what, excerpt()));
  }

  [[nodiscard]] Place at(const char* key) const {
    if (!value_.is_object()) expect("an object");
    if (!value_.contains(key)) expect(fmt::format("an object with \"{}\"", key));
    return {value_.at(key), path_, fmt::format("{}.{}", name_, key)};
  }
  [[nodiscard]] std::vector<Place> list() const {
    if (!value_.is_array()) expect("an array");
    std::vector<Place> places;
    for (std::size_t i = 0; i < value_.size(); ++i)
      places.push_back({value_.at(i), path_, fmt::format("{}[{}]", name_, i)});
    return places;
  }
  [[nodiscard]] std::vector<std::pair<std::string, Place>> members() const {
    if (!value_.is_object()) expect("an object");
    std::vector<std::pair<std::string, Place>> places;
    for (const auto& [key, value] : value_.items())
      places.push_back({key, {value, path_, fmt::format("{}.{}", name_, key)}});
    return places;
  }
  [[nodiscard]] std::string text() const {
    if (!value_.is_string() || value_.get_ref<const std::string&>().empty()) expect("a text");
    return value_.get<std::string>();
  }
  [[nodiscard]] std::int64_t count(std::int64_t least) const {
    if (!value_.is_number_integer() || value_.get<std::int64_t>() < least)
      expect(fmt::format("a whole number from {}", least));
    return value_.get<std::int64_t>();
  }
  [[nodiscard]] double microseconds() const {
    if (!value_.is_number() || !(value_.get<double>() > 0)) expect("a number above 0");
    return value_.get<double>();
  }
  [[nodiscard]] bool yes_or_no() const {
    if (!value_.is_boolean()) expect("true or false");
    return value_.get<bool>();
  }

 private:
  [[nodiscard]] std::string excerpt() const {
    constexpr std::size_t longest = 40;
    const std::string text = value_.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= longest ? text : text.substr(0, longest) + "...";
  }

  const Json& value_;
  const std::string& path_;
  std::string name_;
};

AllreduceJob parse_job(const Place& place) {
  return {.machine = place.at("machine").text(),
          .ranks = static_cast<int>(place.at("ranks").count(1)),
          .ranks_per_host = place.at("ranks_per_host").text(),
          .ranks_share_cores = place.at("ranks_share_cores").yes_or_no(),
          .memory = place.at("memory").text(),
          .type = place.at("type").text()};
}

AllreduceRow parse_row(const Place& place) {
  AllreduceRow row{.bytes = place.at("bytes").count(0), .best = place.at("best").text()};
  for (const auto& [algorithm, time] : place.at("median_us").members())
    row.median_us[algorithm] = time.microseconds();
  if (!row.median_us.contains(row.best))
    place.at("best").expect("one of the algorithms in \"median_us\" beside it");
  for (const auto& [algorithm, reason] : place.at("skipped").members())
    row.skipped[algorithm] = reason.text();
  row.operation = place.at("operation").text();
  row.version = place.at("version").text();
  row.date = place.at("date").text();
  return row;
}

Json row_json(const AllreduceRow& row) {
  return {{"bytes", row.bytes},     {"best", row.best},           {"median_us", row.median_us},
          {"skipped", row.skipped}, {"operation", row.operation}, {"version", row.version},
          {"date", row.date}};
}

}  // namespace

AllreduceTable AllreduceTable::parse(const std::string& text, const std::string& path) {
  AllreduceTable table;
  table.path_ = path;
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    // The message begins with an error number of the JSON library.
    const std::string_view message = error.what();
    throw Error(ErrorKind::input, fmt::format("allreduce table {} is not JSON: {}", path,
                                              message.substr(message.find("] ") + 2)));
  }
  const Place root(json, path, "the file");
  if (root.at("format").text() != format_name) root.at("format").expect(fmt::format("\"{}\"", format_name));
  for (const Place& place : root.at("series").list()) {
    Series series{parse_job(place), {}};
    if (table.find(series.job) != nullptr) place.expect("of another job than the series before it");
    for (const Place& row_place : place.at("rows").list()) {
      AllreduceRow row = parse_row(row_place);
      const std::int64_t bytes = row.bytes;
      if (!series.rows.emplace(bytes, std::move(row)).second)
        row_place.at("bytes").expect("another size than those of the rows before it");
    }
    table.series_.push_back(std::move(series));
  }
  return table;
}

std::string AllreduceTable::to_text() const {
  Json all = Json::array();
  for (const Series& series : series_) {
    Json rows = Json::array();
    for (const auto& [bytes, row] : series.rows) rows.push_back(row_json(row));
    const AllreduceJob& job = series.job;
    all.push_back({{"machine", job.machine},
                   {"ranks", job.ranks},
                   {"ranks_per_host", job.ranks_per_host},
                   {"ranks_share_cores", job.ranks_share_cores},
                   {"memory", job.memory},
                   {"type", job.type},
                   {"rows", std::move(rows)}});
  }
  const Json json{{"format", format_name}, {"series", std::move(all)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace selvage::detail
