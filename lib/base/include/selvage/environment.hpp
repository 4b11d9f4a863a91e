#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace selvage {

/// The value of an environment variable; nothing when it is unset or empty.
[[nodiscard]] std::optional<std::string> environment_text(const char* name);

/// An environment variable that holds a whole number.
/// \return `fallback` when the variable is unset or empty
/// \throws Error{input} that names the variable, its value and the range when it is not a number in [least,
/// most]
[[nodiscard]] std::int64_t environment_integer(const char* name, std::int64_t fallback, std::int64_t least,
                                               std::int64_t most);

}  // namespace selvage
