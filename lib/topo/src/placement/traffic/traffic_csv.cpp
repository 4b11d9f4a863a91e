#include "text/text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/traffic_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace selvage::topo {
namespace {

constexpr std::array<const char*, 6> columns = {"from",          "to",           "host_bytes",
                                                "host_messages", "device_bytes", "device_messages"};

[[noreturn]] void fail(const std::string& name, std::size_t line, const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}:{}: {}", name, line, what));
}

std::uint64_t number(std::string_view text, const char* column, const std::string& name, std::size_t line) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    fail(name, line, fmt::format("{} '{}' passes 64 bits", column, shown(text)));
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(name, line, fmt::format("{} '{}' is not a whole number of 0 or more", column, shown(text)));
  }
  return value;
}

int rank_number(std::string_view text, const char* column, int ranks, const std::string& name,
                std::size_t line) {
  const std::uint64_t rank = number(text, column, name, line);
  if (rank >= static_cast<std::uint64_t>(ranks)) {
    fail(name, line, fmt::format("{} '{}' of at most {} ranks", column, shown(text), ranks));
  }
  return static_cast<int>(rank);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields = split(line, ',');
  for (std::string_view& field : fields) field = trimmed(field);
  return fields;
}

TrafficEntry entry_of(std::string_view text, int ranks, const std::string& name, std::size_t line) {
  const std::vector<std::string_view> fields = fields_of(text);
  if (fields.size() != columns.size()) {
    fail(name, line, fmt::format("{} fields instead of {}", fields.size(), columns.size()));
  }
  const auto amount = [&](std::size_t column) { return number(fields[column], columns[column], name, line); };
  return {.from = rank_number(fields[0], columns[0], ranks, name, line),
          .to = rank_number(fields[1], columns[1], ranks, name, line),
          .host = {amount(2), amount(3)},
          .device = {amount(4), amount(5)}};
}

void check_header(std::string_view text, const std::string& name) {
  const std::vector<std::string_view> fields = fields_of(text);
  if (std::equal(fields.begin(), fields.end(), columns.begin(), columns.end())) return;
  fail(name, 1, fmt::format("the header is '{}' instead of '{}'", shown(text), fmt::join(columns, ",")));
}

}  // namespace

Traffic traffic_from_csv(std::string_view text, const std::string& name, std::optional<int> ranks) {
  const std::vector<std::string_view> lines = split(text, '\n');
  check_header(lines.front(), name);
  std::vector<TrafficEntry> entries;
  int highest = -1;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (trimmed(lines[i]).empty()) continue;
    entries.push_back(entry_of(lines[i], ranks.value_or(Traffic::max_ranks), name, i + 1));
    highest = std::max({highest, entries.back().from, entries.back().to});
  }
  if (highest < 0 && !ranks)
    throw Error(ErrorKind::input, fmt::format("{}: no row tells the number of ranks", name));
  try {
    return Traffic(ranks.value_or(highest + 1), std::move(entries));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", name, error.message()));
  }
}

std::string traffic_to_csv(const Traffic& traffic) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{}\n", fmt::join(columns, ","));
  int highest = -1;
  for (const TrafficEntry& entry : traffic.entries()) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n", entry.from, entry.to, entry.host.bytes,
                   entry.host.messages, entry.device.bytes, entry.device.messages);
    highest = std::max({highest, entry.from, entry.to});
  }
  const int last = traffic.rank_count() - 1;
  if (highest < last) fmt::format_to(std::back_inserter(text), "{},{},0,0,0,0\n", last, last);
  return fmt::to_string(text);
}

}  // namespace selvage::topo
