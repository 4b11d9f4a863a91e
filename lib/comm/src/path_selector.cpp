#include "path_selector.hpp"

#include "registry.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::detail {

Path select_path(const PairFacts& facts, std::optional<Transport> forced, const std::string& forced_by) {
  std::string refusals;
  for (const TransportEntry& entry : transports()) {
    if (forced && entry.transport != *forced) continue;
    const std::string refusal = entry.refuse(facts);
    if (refusal.empty()) {
      const std::string why = forced ? "forced by " + forced_by : entry.reason + refusals;
      return {entry.transport, why};
    }
    if (forced) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("transport {}, forced by {}, is not possible with rank {}: {}",
                              to_string(*forced), forced_by, facts.rank, refusal));
    }
    refusals += fmt::format("; not {}: {}", to_string(entry.transport), refusal);
  }
  throw Error(ErrorKind::unsupported, fmt::format("no transport reaches rank {}{}", facts.rank, refusals));
}

}  // namespace selvage::detail
