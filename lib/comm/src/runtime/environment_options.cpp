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

std::chrono::milliseconds milliseconds_or(const char* variable, std::chrono::milliseconds fallback) {
  return std::chrono::milliseconds(environment_integer(variable, fallback.count(), 1, longest_timeout_ms));
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

}  // namespace

std::chrono::milliseconds timeout_from_environment() {
  return milliseconds_or("SELVAGE_TIMEOUT_MS", default_timeout);
}
std::chrono::milliseconds setup_timeout_from_environment() {
  return milliseconds_or("SELVAGE_SETUP_TIMEOUT_MS", std::max(default_timeout, timeout_from_environment()));
}
std::optional<Transport> transport_from_environment() {
  return parsed("SELVAGE_TRANSPORT", parse_transport);
}
std::optional<Initiation> initiation_from_environment() {
  return parsed("SELVAGE_INITIATION", parse_initiation);
}
std::optional<QueuePlacement> queue_placement_from_environment() {
  return parsed("SELVAGE_QUEUE_PLACEMENT", parse_queue_placement);
}

void check_environment() {
  static_cast<void>(timeout_from_environment());
  static_cast<void>(setup_timeout_from_environment());
  static_cast<void>(transport_from_environment());
  static_cast<void>(initiation_from_environment());
  static_cast<void>(queue_placement_from_environment());
  static_cast<void>(read_allreduce_request({}, CollectiveKind::allreduce, true));
  static_cast<void>(environment_switch("SELVAGE_GRID_REORDER"));
  static_cast<void>(environment_switch("SELVAGE_GPU_AWARE_MPI"));
  static_cast<void>(may_have_service_threads());
  static_cast<void>(CopySplit::from_environment());
}

}  // namespace selvage::detail
