#pragma once

#include <selvage/comm/context_options.hpp>
#include <selvage/comm/options.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace selvage::detail {

inline constexpr std::chrono::milliseconds default_timeout{30'000};

/// What the user asked for, and where: "the option transport", "SELVAGE_TRANSPORT".
template <class Choice>
struct Forced {
  std::optional<Choice> choice;
  std::string by;
};

/// The limits of waits, see ContextOptions.
struct TimeLimits {
  std::chrono::milliseconds timeout = default_timeout;
  std::chrono::milliseconds setup_timeout = default_timeout;
};

/// What variables say, else a Context's options.
/// \throws Error{input} that names the variable, its value and what is allowed; Error{usage} likewise for an option
[[nodiscard]] TimeLimits time_limits(const ContextOptions& options);
/// \param own  the object's option, which comes first
[[nodiscard]] Forced<Transport> forced_transport(const std::optional<Transport>& own,
                                                 const ContextOptions& options);
[[nodiscard]] Forced<Initiation> forced_initiation(const std::optional<Initiation>& own,
                                                   const ContextOptions& options);
/// Whether command queues keep their slots in GPU memory, see CommandQueue::Options.
[[nodiscard]] std::optional<bool> slots_on_device_from_environment();

/// Reads every variable of the library that holds no file's name, and a Context's options, so that a bad one is found when a
/// Context is made, and not by the first object that it matters to.
/// \throws Error{input}, Error{usage}
void check_settings(const ContextOptions& options);

}  // namespace selvage::detail
