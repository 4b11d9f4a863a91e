// Everything that knows toml++.
#include "common/input.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace selvage::app {
namespace {

std::string type_name(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_date()) return "a date";
  if (node.is_time()) return "a time";
  if (node.is_date_time()) return "a date and time";
  return "an array of tables";
}

/// The value, or nothing when it is of a type that no read could want.
std::optional<Value> to_value(const toml::node& node) {
  if (const auto* value = node.as_boolean()) return Value(value->get());
  if (const auto* value = node.as_integer()) return Value(static_cast<std::int64_t>(value->get()));
  if (const auto* value = node.as_floating_point()) return Value(value->get());
  if (const auto* value = node.as_string()) return Value(value->get());
  const auto* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  ValueList list;
  for (const auto& element : *array) {
    auto value = to_value(element);
    if (!value) return std::nullopt;
    list.push_back(std::move(*value));
  }
  return Value(std::move(list));
}

struct Leaf {
  std::string key;
  const toml::node* node;
  std::size_t line;
};

void collect_leaves(const toml::table& table, const std::string& prefix, std::vector<Leaf>& leaves) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    if (const auto* inner = node.as_table()) {
      collect_leaves(*inner, key + ".", leaves);
    } else {
      leaves.push_back({key, &node, static_cast<std::size_t>(node.source().begin.line)});
    }
  }
}

toml::table parse_document(std::string_view text, const std::string& file_name) {
  try {
    return toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    const auto at = error.source().begin;
    throw Error(ErrorKind::input,
                fmt::format("{}:{}:{}: {}", file_name, at.line, at.column, error.description()));
  }
}

bool is_key(std::string_view key) {
  const auto part_of_key = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  };
  return !key.empty() && key.front() != '.' && key.back() != '.' && std::ranges::all_of(key, part_of_key);
}

/// An override's text as a TOML value; bare words, e.g. `dirichlet` or `2x2x1`, are texts.
Value parse_override(const Override& given) {
  try {
    // Within braces, so that nothing may follow the value: no comment, no other key.
    const toml::table table = toml::parse(fmt::format("braces = {{ value = {} }}", given.text));
    const toml::table* const braces = table["braces"].as_table();
    if (table.size() == 1 && braces != nullptr && braces->size() == 1) {
      if (auto value = to_value(*braces->get("value"))) return std::move(*value);
    }
  } catch (const toml::parse_error&) {
    return Value(given.text);
  }
  return Value(given.text);
}

}  // namespace

Input Input::parse(std::string_view text, std::string file_name, std::span<const Override> overrides) {
  const toml::table document = parse_document(text, file_name);
  std::vector<Leaf> leaves;
  collect_leaves(document, "", leaves);
  std::ranges::stable_sort(leaves, {}, &Leaf::line);
  Input input;
  for (const auto& leaf : leaves) {
    Entry entry{.origin = fmt::format("{}:{}", file_name, leaf.line), .order = input.entries_.size()};
    if (auto value = to_value(*leaf.node)) {
      entry.value = std::move(*value);
    } else {
      entry.odd_type = type_name(*leaf.node);
    }
    input.entries_.insert_or_assign(leaf.key, std::move(entry));
  }
  for (const auto& given : overrides) {
    if (!is_key(given.key)) {
      throw Error(ErrorKind::input,
                  fmt::format("{}: '{}' is not a key such as section.key", given.origin, given.key));
    }
    Entry entry{.value = parse_override(given),
                .origin = given.origin,
                .raw = given.text,
                .order = input.entries_.size()};
    input.entries_.insert_or_assign(given.key, std::move(entry));
  }
  return input;
}

}  // namespace selvage::app
