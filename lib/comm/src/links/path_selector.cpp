#include "path_selector.hpp"

#include "registry.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::detail {
namespace {

struct Selected {
  const TransportEntry* entry;
  std::string why;
};

Selected select_transport(const PairFacts& facts, const Forced<Transport>& forced) {
  std::string refusals;
  for (const TransportEntry& entry : transports()) {
    if (forced.choice && entry.transport != *forced.choice) continue;
    const std::string refusal = entry.refuse(facts);
    if (refusal.empty()) return {&entry, forced.choice ? "forced by " + forced.by : entry.reason + refusals};
    if (forced.choice) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("transport {}, forced by {}, is not possible with rank {}: {}",
                              to_string(*forced.choice), forced.by, facts.rank, refusal));
    }
    refusals += fmt::format("; not {}: {}", to_string(entry.transport), refusal);
  }
  if (forced.choice) {
    throw Error(ErrorKind::unsupported,
                fmt::format("transport {}, forced by {}, is for typed transfers alone",
                            to_string(*forced.choice), forced.by));
  }
  throw Error(ErrorKind::unsupported, fmt::format("no transport reaches rank {}{}", facts.rank, refusals));
}

struct SelectedInitiation {
  Initiation initiation;
  std::string why;
};

SelectedInitiation select_initiation(const TransportEntry& entry, const PairFacts& facts,
                                     const Forced<Initiation>& forced, bool on_host) {
  const std::string stream_refusal = entry.refuse_initiation(Initiation::stream, facts, on_host);
  if (!forced.choice) {
    if (stream_refusal.empty()) return {Initiation::stream, ""};
    return {Initiation::host, "; not stream: " + stream_refusal};
  }
  const std::string refusal = entry.refuse_initiation(*forced.choice, facts, on_host);
  if (refusal.empty()) {
    return {*forced.choice,
            fmt::format("; initiation {} forced by {}", to_string(*forced.choice), forced.by)};
  }
  throw Error(ErrorKind::unsupported,
              fmt::format("initiation {}, forced by {}, is not possible over {}: {}",
                          to_string(*forced.choice), forced.by, to_string(entry.transport), refusal));
}

}  // namespace

Path select_path(const PairFacts& facts, const Forced<Transport>& transport,
                 const Forced<Initiation>& initiation, bool on_host) {
  const Selected selected = select_transport(facts, transport);
  const SelectedInitiation started = select_initiation(*selected.entry, facts, initiation, on_host);
  return {selected.entry->transport, started.initiation, selected.why + started.why};
}

}  // namespace selvage::detail
