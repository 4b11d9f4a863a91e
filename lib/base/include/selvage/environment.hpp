#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace selvage {

/// The value of an environment variable; nothing when it is unset or empty.
[[nodiscard]] std::optional<std::string> environment_text(const char* name);

/// An environment variable that holds a whole number.
/// \return `fallback` when the variable is unset or empty
/// \throws Error{input} that names the variable, its value and the range when it is not a number in [least,
/// most]
[[nodiscard]] std::int64_t environment_integer(const char* name, std::int64_t fallback, std::int64_t least,
                                               std::int64_t most);

/// Where a file of settings lies.
struct SettingsPath {
  std::string path;
  bool is_named = false;  ///< by its environment variable: it must be there
};
/// What an environment variable names, else selvage/<name> below $XDG_CONFIG_HOME, else below $HOME/.config. Nothing where
/// the variable is "off", or none of the three is set.
[[nodiscard]] std::optional<SettingsPath> settings_path(const char* variable, std::string_view name);

}  // namespace selvage
