#include "list_choice.hpp"

#include "links/mpi_direct.hpp"
#include "links/mpi_staged.hpp"
#include "links/peer.hpp"
#include "proxy/proxy.hpp"

#include <array>
#include <string>

namespace selvage::detail {
namespace {

std::string refuse_list_peer(Initiation initiation, const PairFacts& /*facts*/, bool /*on_host*/) {
  return initiation == Initiation::queue ? "kernels that reach the other rank's memory need no proxy" : "";
}

std::string refuse_list_messages(Initiation initiation, const PairFacts& facts, bool on_host) {
  switch (initiation) {
    case Initiation::queue:
      // A waiting kernel occupies its thread, so the proxy needs one of its own, on hosts too.
      return on_host ? facts.threads_refusal : Proxy::refusal(facts.threads_refusal, false);
    case Initiation::kernel:
      return "no kernel starts messages of lists";
    case Initiation::stream:
      return on_host ? "" : "MPI can only be called from the host, after a fence";
    case Initiation::host:
      break;
  }
  return {};
}

constexpr std::array list_candidates{
    LinkCandidate{Transport::peer, "same host, packed into the other rank's memory", refuse_peer,
                  refuse_list_peer},
    LinkCandidate{Transport::mpi_direct, "MPI takes the packed memory as it is", refuse_mpi_direct,
                  refuse_list_messages},
    LinkCandidate{Transport::mpi_staged, "works everywhere", refuse_mpi_staged, refuse_list_messages},
};

}  // namespace

Path choose_list_path(const PairFacts& facts, const Forced<Transport>& transport,
                      const Forced<Initiation>& initiation, bool on_host) {
  return select_path(list_candidates, "lists", facts, transport, initiation, on_host);
}

}  // namespace selvage::detail
