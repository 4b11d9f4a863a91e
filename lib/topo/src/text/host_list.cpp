#include "text_file.hpp"

#include <selvage/error.hpp>
#include <selvage/topo/fabric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace selvage::topo {
namespace {

[[noreturn]] void fail(std::string_view list, const char* why) {
  throw Error(ErrorKind::input, fmt::format("host list '{}' {}", shown(list), why));
}

int number(std::string_view text, std::string_view list) {
  constexpr std::size_t most_digits = 9;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.front() == '-' || text.size() > most_digits || error != std::errc() ||
      end != text.data() + text.size()) {
    fail(list, "has a range that is no number");
  }
  return value;
}

/// What stands between brackets: numbers and ranges of them, with the leading zeros of their first number.
std::vector<std::string> expand_ranges(std::string_view ranges, std::string_view list) {
  std::vector<std::string> all;
  for (const std::string_view range : split(ranges, ',')) {
    const auto dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const int begin = number(first, list);
    const int end = dash == std::string_view::npos ? begin : number(range.substr(dash + 1), list);
    if (end < begin) fail(list, "has a range that runs backwards");
    if (end - begin >= Fabric::max_hosts) fail(list, "has too many hosts");
    for (int i = begin; i <= end; ++i) all.push_back(fmt::format("{:0{}}", i, first.size()));
    if (all.size() > static_cast<std::size_t>(Fabric::max_hosts)) fail(list, "has too many hosts");
  }
  return all;
}

/// One name, perhaps with brackets in it, several of which multiply.
std::vector<std::string> expand_item(std::string_view item, std::string_view list) {
  const auto open = item.find('[');
  if (item.empty()) fail(list, "has an empty name");
  if (open == std::string_view::npos) {
    if (item.find(']') != std::string_view::npos) fail(list, "has a bracket without its pair");
    return {std::string(item)};
  }
  const auto close = item.find(']', open);
  if (close == std::string_view::npos || item.substr(0, open).find(']') != std::string_view::npos) {
    fail(list, "has a bracket without its pair");
  }
  const std::vector<std::string> middles = expand_ranges(item.substr(open + 1, close - open - 1), list);
  const std::string_view rest = item.substr(close + 1);
  const std::vector<std::string> ends = rest.empty() ? std::vector<std::string>{""} : expand_item(rest, list);
  if (middles.size() * ends.size() > static_cast<std::size_t>(Fabric::max_hosts))
    fail(list, "has too many hosts");
  std::vector<std::string> all;
  for (const std::string& middle : middles) {
    for (const std::string& end : ends)
      all.push_back(fmt::format("{}{}{}", item.substr(0, open), middle, end));
  }
  return all;
}

/// At the commas outside of brackets.
std::vector<std::string_view> split_items(std::string_view list) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[') inside = true;
    if (list[i] == ']') inside = false;
    if (list[i] != ',' || inside) continue;
    items.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  items.push_back(list.substr(begin));
  return items;
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view list) {
  constexpr std::size_t most_characters = 1 << 20;
  if (list.size() > most_characters) fail(list, "is too long");
  std::vector<std::string> all;
  for (const std::string_view item : split_items(list)) {
    // Names multiply by brackets; a name with very many of them is no name, and would nest as deep.
    if (item.size() > 4096 || std::count(item.begin(), item.end(), '[') > 8)
      fail(list, "has too many brackets");
    const std::vector<std::string> names = expand_item(trimmed(item), list);
    all.insert(all.end(), names.begin(), names.end());
    if (all.size() > static_cast<std::size_t>(Fabric::max_hosts)) fail(list, "has too many hosts");
  }
  return all;
}

}  // namespace selvage::topo
