#include "environment_options.hpp"

#include "collectives/allreduce_request.hpp"
#include "copies/multipath_copier.hpp"
#include "proxy/proxy.hpp"

#include <selvage/environment.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::detail {
namespace {

constexpr std::int64_t default_timeout_ms = 30'000;
constexpr std::int64_t longest_timeout_ms = 86'400'000;

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
  return std::chrono::milliseconds(
      environment_integer("SELVAGE_TIMEOUT_MS", default_timeout_ms, 1, longest_timeout_ms));
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
  static_cast<void>(transport_from_environment());
  static_cast<void>(initiation_from_environment());
  static_cast<void>(queue_placement_from_environment());
  static_cast<void>(read_allreduce_request({}, CollectiveKind::allreduce, true));
  static_cast<void>(environment_switch("SELVAGE_GRID_REORDER"));
  static_cast<void>(environment_switch("SELVAGE_GPU_AWARE_MPI"));
  static_cast<void>(Proxy::may_use_threads());
  static_cast<void>(CopySplit::from_environment());
}

}  // namespace selvage::detail
