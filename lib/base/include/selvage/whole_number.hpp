#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace selvage {

/// The value of decimal digits, behind a minus sign perhaps; nothing for any other text (an empty one, blanks, hexadecimal
/// digits, a fraction, something behind the digits) and for numbers beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace selvage
