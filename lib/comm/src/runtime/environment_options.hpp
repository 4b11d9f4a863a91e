#pragma once

#include <selvage/comm/options.hpp>

#include <chrono>
#include <optional>

namespace selvage::detail {

inline constexpr std::chrono::milliseconds default_timeout{30'000};

/// What variables force or bound; nothing where they are unset.
/// \throws Error{input} that names the variable, its value and what is allowed
[[nodiscard]] std::chrono::milliseconds timeout_from_environment();
/// Unset, it is the default or the limit of other waits, whichever is longer.
[[nodiscard]] std::chrono::milliseconds setup_timeout_from_environment();
[[nodiscard]] std::optional<Transport> transport_from_environment();
[[nodiscard]] std::optional<Initiation> initiation_from_environment();
[[nodiscard]] std::optional<QueuePlacement> queue_placement_from_environment();

/// Reads every variable of the library that holds no file's name, so that a bad one is found when a Context is made, and not
/// by the first object that it matters to.
/// \throws Error{input}
void check_environment();

}  // namespace selvage::detail
