#include "list_choice.hpp"

#include "links/mpi_direct.hpp"
#include "links/mpi_staged.hpp"
#include "links/peer.hpp"
#include "proxy/proxy.hpp"
#include "runtime/environment_options.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <array>
#include <string>

namespace selvage::detail {
namespace {

struct Candidate {
  Transport transport;
  std::string (*refuse)(const PairFacts&);
  const char* reason;
};
/// In the order of preference.
constexpr std::array candidates{
    Candidate{Transport::peer, refuse_peer, "same host, packed into the other rank's memory"},
    Candidate{Transport::mpi_direct, refuse_mpi_direct, "MPI takes the packed memory as it is"},
    Candidate{Transport::mpi_staged, refuse_mpi_staged, "works everywhere"},
};

/// Why lists can't be initiated so by a transport; whatever it is where none is named.
std::string refuse_initiation(Initiation initiation, std::optional<Transport> transport, bool on_host) {
  if (initiation == Initiation::queue) {
    // A kernel that waits keeps its thread: the proxy needs one of its own, on hosts too.
    const std::string no_proxy = on_host ? Proxy::thread_refusal() : Proxy::refusal(false);
    const bool is_mapped = transport == Transport::peer;
    return no_proxy.empty() && is_mapped ? "kernels that reach the other rank's memory need no proxy"
                                         : no_proxy;
  }
  if (!transport || *transport == Transport::peer || initiation == Initiation::host) return {};
  if (initiation == Initiation::kernel) return "no kernel starts messages of lists";
  return on_host ? "" : "MPI can only be called from the host, after a fence";
}

}  // namespace

ListRequest read_request(const ListOptions& options) {
  ListRequest request{{options.transport, "the option transport"},
                      {options.initiation, "the option initiation"}};
  if (const auto forced = transport_from_environment(); forced && !options.transport)
    request.transport = {forced, "SELVAGE_TRANSPORT"};
  if (const auto forced = initiation_from_environment(); forced && !options.initiation)
    request.initiation = {forced, "SELVAGE_INITIATION"};
  return request;
}

Path choose_list_path(const PairFacts& facts, const ListRequest& request, bool on_host) {
  const std::optional<Initiation> initiation = request.initiation.choice;
  std::string refusal =
      initiation ? refuse_initiation(*initiation, request.transport.choice, on_host) : std::string();
  if (!refusal.empty()) {
    throw Error(ErrorKind::unsupported,
                fmt::format("initiation {}, forced by {}, is not possible for lists: {}",
                            to_string(*initiation), request.initiation.by, refusal));
  }
  std::string refusals;
  for (const Candidate& candidate : candidates) {
    if (request.transport.choice && candidate.transport != *request.transport.choice) continue;
    const bool streams = refuse_initiation(Initiation::stream, candidate.transport, on_host).empty();
    Path path{.transport = candidate.transport,
              .initiation = initiation.value_or(streams ? Initiation::stream : Initiation::host),
              .why = {}};
    refusal = candidate.refuse(facts);
    if (refusal.empty()) refusal = refuse_initiation(path.initiation, candidate.transport, on_host);
    if (refusal.empty()) {
      path.why = request.transport.choice ? "forced by " + request.transport.by : candidate.reason + refusals;
      return path;
    }
    refusals += fmt::format("; not {}: {}", to_string(candidate.transport), refusal);
  }
  if (refusals.empty())
    refusals = fmt::format("; not {}: it carries no lists", to_string(*request.transport.choice));
  throw Error(ErrorKind::unsupported,
              fmt::format("no list reaches rank {}{}{}", facts.rank, refusals,
                          request.transport.choice ? ", forced by " + request.transport.by : ""));
}

}  // namespace selvage::detail
