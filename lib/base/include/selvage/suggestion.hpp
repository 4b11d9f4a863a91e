#pragma once

#include <span>
#include <string>
#include <string_view>

namespace selvage {

/// The candidate closest to `word` by edit distance (insert, delete, replace, swap neighbours), or empty when
/// none is close enough to be a likely slip: a third of the word's length, and at least 2.
[[nodiscard]] std::string closest(std::string_view word, std::span<const std::string> candidates);

/// ", did you mean 'x'?" or nothing: to be appended to a message.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace selvage
