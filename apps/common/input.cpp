#include "common/input.hpp"

#include <selvage/error.hpp>
#include <selvage/suggestion.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

namespace selvage::app {
namespace {

template <class T>
constexpr const char* expected_name() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, std::string>) return "a text in quotes";
  if constexpr (std::is_integral_v<T>) return "a whole number";
  return "a number";
}

template <class T>
std::string describe_limits(const Limits<T>& limits) {
  const bool below = limits.least != std::numeric_limits<T>::lowest();
  const bool above = limits.most != std::numeric_limits<T>::max();
  const char* least = limits.above_least ? "greater than" : "at least";
  if (below && above && !limits.above_least) return fmt::format("from {} to {}", limits.least, limits.most);
  if (below && above) return fmt::format("greater than {} and at most {}", limits.least, limits.most);
  if (below) return fmt::format("{} {}", least, limits.least);
  return fmt::format("at most {}", limits.most);
}

/// A number as T, or why it can't be. `reason` continues "<key> must be ".
template <class T>
std::optional<T> to_number(const Value& value, const Limits<T>& limits, std::string& reason) {
  std::optional<T> number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if constexpr (std::is_integral_v<T>) {
      if (std::in_range<T>(*whole)) number = static_cast<T>(*whole);
    } else {
      number = static_cast<T>(*whole);
    }
  } else if (const auto* real = std::get_if<double>(&value); real && !std::is_integral_v<T>) {
    if (!std::isfinite(*real) || !std::isfinite(static_cast<T>(*real))) {
      reason = "a finite number";
      return std::nullopt;
    }
    number = static_cast<T>(*real);
  } else {
    reason = expected_name<T>();
    return std::nullopt;
  }
  const bool too_small =
      number && (*number < limits.least || (limits.above_least && *number == limits.least));
  if (number && !too_small && *number <= limits.most) return number;
  reason = describe_limits(limits);
  return std::nullopt;
}

template <class T>
std::optional<T> to_scalar(const Value& value, const Limits<T>& limits, std::string& reason) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    return to_number<T>(value, limits, reason);
  } else {
    if (const auto* scalar = std::get_if<T>(&value)) return *scalar;
    reason = expected_name<T>();
    return std::nullopt;
  }
}

template <class T>
Value from_scalar(const T& scalar) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
    return Value(scalar);
  else if constexpr (std::is_integral_v<T>)
    return Value(static_cast<std::int64_t>(scalar));
  else
    return Value(static_cast<double>(scalar));
}

std::string real_text(double value) {
  const std::string text = fmt::format("{}", value);
  const bool looks_whole = text.find_first_of(".en") == std::string::npos;
  return looks_whole ? text + ".0" : text;
}

}  // namespace

std::string to_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", *text);
  std::vector<std::string> parts;
  for (const auto& element : std::get<ValueList>(value)) parts.push_back(to_text(element));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

const Input::Entry* Input::find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

bool Input::has(std::string_view key) const {
  return find(key) != nullptr;
}

void Input::remember(std::string_view key, Value value) {
  const Entry* entry = find(key);
  resolved_.insert_or_assign(std::string(key),
                             Resolved{std::move(value), entry == nullptr ? "default" : entry->origin});
}

void Input::reject(std::string_view key, std::string_view why) const {
  const Entry* entry = find(key);
  const std::string where = entry == nullptr ? "" : entry->origin + ": ";
  throw Error(ErrorKind::input, fmt::format("{}{} {}", where, key, why));
}

void Input::expect(std::string_view key, std::string_view expected) const {
  const Entry& entry = *find(key);
  const std::string actual = entry.odd_type.empty() ? to_text(entry.value) : entry.odd_type;
  reject(key, fmt::format("must be {}, but is {}", expected, actual));
}

template <class T>
T Input::get(std::string_view key, T fallback, const Limits<T>& limits) {
  const Entry* entry = find(key);
  if (entry == nullptr) {
    remember(key, from_scalar(fallback));
    return fallback;
  }
  // `--set case.name=12` means the text 12 where a text is read.
  if constexpr (std::is_same_v<T, std::string>) {
    if (!entry->raw.empty() && !std::holds_alternative<std::string>(entry->value)) {
      remember(key, Value(entry->raw));
      return entry->raw;
    }
  }
  std::string reason = expected_name<T>();
  std::optional<T> scalar;
  if (entry->odd_type.empty()) scalar = to_scalar<T>(entry->value, limits, reason);
  if (!scalar) expect(key, reason);
  remember(key, from_scalar(*scalar));
  return *scalar;
}

template <class T>
T Input::require(std::string_view key, const Limits<T>& limits) {
  if (!has(key)) throw Error(ErrorKind::input, fmt::format("{} is required, but not given", key));
  return get<T>(key, T{}, limits);
}

template <class T>
std::vector<T> Input::list(std::string_view key, std::vector<T> fallback, const ListLimits<T>& limits) {
  std::vector<T> result = std::move(fallback);
  if (const Entry* entry = find(key)) {
    const auto* values = entry->odd_type.empty() ? std::get_if<ValueList>(&entry->value) : nullptr;
    if (values == nullptr) expect(key, fmt::format("a list, each element {}", expected_name<T>()));
    if (values->size() < limits.least_length || values->size() > limits.most_length) {
      expect(key, limits.least_length == limits.most_length
                      ? fmt::format("a list of {}", limits.least_length)
                      : fmt::format("a list of {} to {}", limits.least_length, limits.most_length));
    }
    result.clear();
    for (const auto& value : *values) {
      std::string reason;
      const auto scalar = to_scalar<T>(value, limits.each, reason);
      if (!scalar) expect(key, fmt::format("a list, each element {}", reason));
      result.push_back(*scalar);
    }
  }
  ValueList used;
  for (const T& element : result) used.push_back(from_scalar(element));
  remember(key, Value(std::move(used)));
  return result;
}

bool Input::get_bool(std::string_view key, bool fallback) {
  return get<bool>(key, fallback);
}

std::string Input::get_text(std::string_view key, std::string fallback) {
  return get<std::string>(key, std::move(fallback));
}

std::string Input::choice(std::string_view key, std::string fallback, std::span<const std::string> choices) {
  std::string text = get<std::string>(key, std::move(fallback));
  if (std::ranges::find(choices, text) != choices.end()) return text;
  reject(key, fmt::format("must be one of {}, but is \"{}\"{}", fmt::join(choices, ", "), text,
                          did_you_mean(text, choices)));
}

std::string Input::choice(std::string_view key, std::string fallback,
                          std::initializer_list<std::string> choices) {
  return choice(key, std::move(fallback), std::span(choices.begin(), choices.size()));
}

void Input::reject_unknown() const {
  const auto unknown = [this](const auto& entry) { return !resolved_.contains(entry.first); };
  const std::map<std::string, Entry, std::less<>>::value_type* first = nullptr;
  for (const auto& entry : entries_) {
    if (unknown(entry) && (first == nullptr || entry.second.order < first->second.order)) first = &entry;
  }
  if (first == nullptr) return;
  std::vector<std::string> known;
  for (const auto& [key, value] : resolved_) known.push_back(key);
  throw Error(ErrorKind::input, fmt::format("{}: unknown key '{}'{}", first->second.origin, first->first,
                                            did_you_mean(first->first, known)));
}

template bool Input::get(std::string_view, bool, const Limits<bool>&);
template int Input::get(std::string_view, int, const Limits<int>&);
template std::int64_t Input::get(std::string_view, std::int64_t, const Limits<std::int64_t>&);
template float Input::get(std::string_view, float, const Limits<float>&);
template double Input::get(std::string_view, double, const Limits<double>&);
template std::string Input::get(std::string_view, std::string, const Limits<std::string>&);
template bool Input::require(std::string_view, const Limits<bool>&);
template int Input::require(std::string_view, const Limits<int>&);
template std::int64_t Input::require(std::string_view, const Limits<std::int64_t>&);
template float Input::require(std::string_view, const Limits<float>&);
template double Input::require(std::string_view, const Limits<double>&);
template std::string Input::require(std::string_view, const Limits<std::string>&);
template std::vector<bool> Input::list(std::string_view, std::vector<bool>, const ListLimits<bool>&);
template std::vector<int> Input::list(std::string_view, std::vector<int>, const ListLimits<int>&);
template std::vector<std::int64_t> Input::list(std::string_view, std::vector<std::int64_t>,
                                               const ListLimits<std::int64_t>&);
template std::vector<double> Input::list(std::string_view, std::vector<double>, const ListLimits<double>&);
template std::vector<std::string> Input::list(std::string_view, std::vector<std::string>,
                                              const ListLimits<std::string>&);

}  // namespace selvage::app
