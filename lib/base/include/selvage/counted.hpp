#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace selvage {

/// A number with what it counts, for messages: "1 rank", "2 ranks", "0 ranks".
/// \param many  the plural where it is not `one` with an s
[[nodiscard]] std::string counted(std::int64_t count, std::string_view one, std::string_view many = {});

}  // namespace selvage
