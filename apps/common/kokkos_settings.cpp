#include "common/kokkos_settings.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace selvage::app {
namespace {

bool is_integer_from(int least, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= least;
}
bool is_one_of(std::string_view text, std::span<const std::string_view> words) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return std::ranges::find(words, lower) != words.end();
}

bool is_thread_count(std::string_view text) {
  return is_integer_from(1, text);
}
bool is_device_number(std::string_view text) {
  return is_integer_from(0, text);
}
bool is_switch(std::string_view text) {
  return is_one_of(text, std::array<std::string_view, 6>{"true", "yes", "1", "false", "no", "0"});
}
bool is_mapping(std::string_view text) {
  return text == "mpi_rank" || text == "random";
}

struct Setting {
  std::string_view argument;
  const char* variable;
  bool (*is_valid)(std::string_view);
  std::string_view wanted;
  bool needs_value;
};
constexpr std::array settings{
    Setting{"--kokkos-num-threads", "KOKKOS_NUM_THREADS", is_thread_count, "a whole number from 1 on", true},
    Setting{"--kokkos-device-id", "KOKKOS_DEVICE_ID", is_device_number, "a whole number from 0 on", true},
    Setting{"--kokkos-map-device-id-by", "KOKKOS_MAP_DEVICE_ID_BY", is_mapping, "mpi_rank or random", true},
    Setting{"--kokkos-disable-warnings", "KOKKOS_DISABLE_WARNINGS", is_switch, "true or false", false},
    Setting{"--kokkos-print-configuration", "KOKKOS_PRINT_CONFIGURATION", is_switch, "true or false", false},
    Setting{"--kokkos-tune-internals", "KOKKOS_TUNE_INTERNALS", is_switch, "true or false", false}};

void require_valid(const Setting& setting, std::string_view argument) {
  const auto equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  if (name != setting.argument) return;
  if (equals == std::string_view::npos) {
    if (setting.needs_value)
      throw Error(ErrorKind::usage, fmt::format("{} needs a value: {}", name, setting.wanted));
  } else if (const std::string_view value = argument.substr(equals + 1); !setting.is_valid(value)) {
    throw Error(ErrorKind::usage, fmt::format("{} is '{}'; it takes {}", name, value, setting.wanted));
  }
}

}  // namespace

void require_kokkos_settings(std::span<const std::string> arguments) {
  for (const Setting& setting : settings) {
    for (const std::string& argument : arguments) require_valid(setting, argument);
    const std::optional<std::string> text = environment_text(setting.variable);
    if (text && !setting.is_valid(*text)) {
      throw Error(ErrorKind::input,
                  fmt::format("{} is '{}'; it takes {}", setting.variable, *text, setting.wanted));
    }
  }
}

}  // namespace selvage::app
