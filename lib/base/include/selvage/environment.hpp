#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace selvage {

/// The value of an environment variable; nothing when it is unset or empty.
[[nodiscard]] std::optional<std::string> environment_text(const char* name);

/// An environment variable that holds a whole number.
/// \return `fallback` when the variable is unset or empty
/// \throws Error{input} that names the variable, its value and the range when it is not a number in [least,
/// most]
[[nodiscard]] std::int64_t environment_integer(const char* name, std::int64_t fallback, std::int64_t least,
                                               std::int64_t most);

/// An environment variable that holds one of a few words.
/// \return nothing when it is unset or empty
/// \throws Error{input} that names the variable, its value and the words
[[nodiscard]] std::optional<std::string> environment_word(const char* name,
                                                          std::initializer_list<std::string_view> words);
/// One that holds yes or no, as environment_word().
[[nodiscard]] std::optional<bool> environment_switch(const char* name);

/// The variables that anything of Selvage reads: libraries, tools, mini-apps, benchmarks and scripts.
[[nodiscard]] std::span<const std::string> known_variables();
/// One line for each variable of the environment that begins with SELVAGE_ and that nothing reads, with the known one most
/// like it.
[[nodiscard]] std::vector<std::string> remarks_on_unknown_variables();

/// Where a file of settings lies.
struct SettingsPath {
  std::string path;
  bool is_named = false;  ///< by its environment variable: it must be there
};
/// What an environment variable names, else `selvage/NAME` below $XDG_CONFIG_HOME, else below $HOME/.config. Nothing where
/// the variable is "off", or none of the three is set.
[[nodiscard]] std::optional<SettingsPath> settings_path(const char* variable, std::string_view name);

}  // namespace selvage
