#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace selvage {

std::optional<std::string> environment_text(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::int64_t environment_integer(const char* name, std::int64_t fallback, std::int64_t least,
                                 std::int64_t most) {
  const auto text = environment_text(name);
  if (!text) return fallback;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc{} || rest != end || value < least || value > most) {
    throw Error(ErrorKind::input,
                fmt::format("{}={} is not a whole number from {} to {}", name, *text, least, most));
  }
  return value;
}

std::optional<SettingsPath> settings_path(const char* variable, std::string_view name) {
  if (const auto named = environment_text(variable)) {
    if (*named == "off") return std::nullopt;
    return SettingsPath{*named, true};
  }
  if (const auto config = environment_text("XDG_CONFIG_HOME"))
    return SettingsPath{fmt::format("{}/selvage/{}", *config, name)};
  if (const auto home = environment_text("HOME"))
    return SettingsPath{fmt::format("{}/.config/selvage/{}", *home, name)};
  return std::nullopt;
}

}  // namespace selvage
