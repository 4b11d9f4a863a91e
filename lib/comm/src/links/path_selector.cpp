#include "path_selector.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::detail {
namespace {

/// "transport peer, forced by SELVAGE_TRANSPORT, "; empty where nothing was forced.
template <class Choice>
std::string describe(std::string_view what, const Forced<Choice>& forced) {
  if (!forced.choice) return {};
  return fmt::format("{} {}, forced by {}, ", what, to_string(*forced.choice), forced.by);
}

}  // namespace

Path select_path(std::span<const LinkCandidate> candidates, std::string_view objects, const PairFacts& facts,
                 const Forced<Transport>& transport, const Forced<Initiation>& initiation, bool on_host) {
  const std::string forced_transport = describe("transport", transport);
  const std::string forced_initiation = describe("initiation", initiation);
  std::string refusals;
  const auto is_considered = [&](const LinkCandidate& candidate) {
    if (transport.choice) return candidate.transport == *transport.choice;
    return candidate.suits == nullptr || candidate.suits(facts);
  };
  for (const LinkCandidate& candidate : candidates) {
    if (!is_considered(candidate)) continue;
    const std::string pair_refusal = candidate.refuse(facts);
    if (!pair_refusal.empty() && transport.choice)
      throw Error(ErrorKind::unsupported, fmt::format("{}is not possible with rank {}: {}", forced_transport,
                                                      facts.rank, pair_refusal));
    const auto refuse_initiation = [&](Initiation tried) {
      return candidate.refuse_initiation(tried, facts, on_host);
    };
    const std::string stream_refusal = refuse_initiation(Initiation::stream);
    const Initiation chosen =
        initiation.choice.value_or(stream_refusal.empty() ? Initiation::stream : Initiation::host);
    const std::string start_refusal = pair_refusal.empty() ? refuse_initiation(chosen) : pair_refusal;
    if (start_refusal.empty()) {
      std::string why =
          transport.choice ? "forced by " + transport.by : std::string(candidate.reason) + refusals;
      if (initiation.choice)
        why += fmt::format("; initiation {} forced by {}", to_string(chosen), initiation.by);
      else if (chosen == Initiation::host)
        why += "; not stream: " + stream_refusal;
      return {candidate.transport, chosen, std::move(why)};
    }
    if (transport.choice) {
      const std::string subject =
          initiation.choice ? forced_initiation : fmt::format("initiation {} ", to_string(chosen));
      throw Error(ErrorKind::unsupported, fmt::format("{}is not possible over {}: {}", subject,
                                                      to_string(candidate.transport), start_refusal));
    }
    refusals += fmt::format("; not {}: {}", to_string(candidate.transport), start_refusal);
  }
  if (transport.choice)
    throw Error(ErrorKind::unsupported, fmt::format("{}carries no {}", forced_transport, objects));
  throw Error(ErrorKind::unsupported,
              forced_initiation.empty()
                  ? fmt::format("no transport of {} reaches rank {}{}", objects, facts.rank, refusals)
                  : fmt::format("{}is not possible for {} with rank {}{}", forced_initiation, objects,
                                facts.rank, refusals));
}

}  // namespace selvage::detail
