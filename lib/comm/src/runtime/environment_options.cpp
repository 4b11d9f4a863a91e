#include "environment_options.hpp"

#include "allreduce_request.hpp"
#include "copy_split.hpp"
#include "service.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace selvage::detail {
namespace {

constexpr std::int64_t longest_timeout_ms = 86'400'000;

std::chrono::milliseconds limit(const char* variable, std::string_view name,
                                const std::optional<std::chrono::milliseconds>& option,
                                std::chrono::milliseconds fallback) {
  const std::int64_t wanted = option.value_or(fallback).count();
  if (wanted < 1 || wanted > longest_timeout_ms)
    throw Error(ErrorKind::usage, fmt::format("ContextOptions::{} of {} ms: there are 1 to {}", name, wanted,
                                              longest_timeout_ms));
  return std::chrono::milliseconds(environment_integer(variable, wanted, 1, longest_timeout_ms));
}

template <class Value>
std::optional<Value> parsed(const char* variable, Value (*parse)(std::string_view)) {
  const auto text = environment_text(variable);
  if (!text) return std::nullopt;
  try {
    return parse(*text);
  } catch (const Error& error) {
    throw Error(ErrorKind::input, fmt::format("{}={}: {}", variable, *text, error.message()));
  }
}

bool is_device(std::string_view text) {
  if (text != "host" && text != "device")
    throw Error(ErrorKind::input, fmt::format("\"{}\" is no queue placement: there are host, device", text));
  return text == "device";
}

template <class Choice>
Forced<Choice> forced(std::string_view name, const std::optional<Choice>& own,
                      const std::optional<Choice>& by_variable, const char* variable,
                      const std::optional<Choice>& of_context) {
  if (own) return {own, fmt::format("the option {}", name)};
  if (by_variable) return {by_variable, variable};
  return {of_context, fmt::format("ContextOptions::{}", name)};
}

}  // namespace

TimeLimits time_limits(const ContextOptions& options) {
  TimeLimits limits;
  limits.timeout = limit("SELVAGE_TIMEOUT_MS", "timeout", options.timeout, default_timeout);
  limits.setup_timeout = limit("SELVAGE_SETUP_TIMEOUT_MS", "setup_timeout", options.setup_timeout,
                               std::max(default_timeout, limits.timeout));
  return limits;
}

Forced<Transport> forced_transport(const std::optional<Transport>& own, const ContextOptions& options) {
  return forced("transport", own, parsed("SELVAGE_TRANSPORT", parse_transport), "SELVAGE_TRANSPORT",
                options.transport);
}
Forced<Initiation> forced_initiation(const std::optional<Initiation>& own, const ContextOptions& options) {
  return forced("initiation", own, parsed("SELVAGE_INITIATION", parse_initiation), "SELVAGE_INITIATION",
                options.initiation);
}
std::optional<bool> slots_on_device_from_environment() {
  return parsed("SELVAGE_QUEUE_PLACEMENT", is_device);
}

void check_settings(const ContextOptions& options) {
  static_cast<void>(time_limits(options));
  static_cast<void>(forced_transport({}, options));
  static_cast<void>(forced_initiation({}, options));
  static_cast<void>(slots_on_device_from_environment());
  static_cast<void>(read_allreduce_request({}, CollectiveKind::allreduce, true));
  static_cast<void>(environment_switch("SELVAGE_GRID_REORDER"));
  static_cast<void>(environment_switch("SELVAGE_GPU_AWARE_MPI"));
  static_cast<void>(why_no_service_threads(options.service_threads));
  static_cast<void>(CopySplit::from_environment());
}

}  // namespace selvage::detail
