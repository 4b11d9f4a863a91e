#pragma once

#include <selvage/whole_number.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <limits>
#include <string>

namespace selvage::topo::tool {

/// What CLI11 would take for a number and isn't one: it reads 010 as 8, an empty text as 0, and gives unsigned numbers what
/// -1 wraps to.
[[nodiscard]] inline CLI::Validator whole_number_from(
    std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  const auto to_decimal = [least, most](std::string& text) {
    const auto value = whole_number(text);
    if (!value || *value < least || *value > most)
      return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
    text = fmt::format("{}", *value);
    return std::string();
  };
  return CLI::Validator(to_decimal, "", "whole number");
}

}  // namespace selvage::topo::tool
