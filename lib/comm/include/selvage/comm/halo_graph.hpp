#pragma once

#include <selvage/comm/detail/kokkos_executor.hpp>
#include <selvage/comm/halo_exchange.hpp>

#include <Kokkos_Graph.hpp>

namespace selvage {

/// Adds an exchange of `views` to a Kokkos graph, after `node`: each submission of the graph does it once.
///
///     auto graph = Kokkos::Experimental::create_graph(space, [&](const auto& root) {
///       const auto swept = root.then_parallel_for("sweep", cells, sweep);
///       then_exchange(space, swept, halo, u).then_parallel_for("use", cells, use);
///     });
///
/// On GPUs the exchange is captured from `space`, once, in this call, as a child graph: submissions then run
/// no host code. On hosts it is a host node, which calls halo.exchange() in each submission.
///
/// All ranks submit the same exchanges in the same order. Exchanges of one graph must form a chain: Kokkos
/// runs branches in any order, and not in the same on every rank. What needs no ghosts may branch off `node`
/// and overlap. Captured exchanges wait for credits, whatever GhostReuse says; with GhostReuse::credit,
/// exchange() may be called between submissions. What goes wrong shows in submit() on hosts, on GPUs in
/// halo.check() after a fence.
/// \param space  the execution space instance of the graph; not being captured already
/// \param halo   nothing in flight; stays where it is as long as the graph. On GPUs exchange `views` once
///               before, see HaloExchange::prepare_capture
/// \return the exchange's node, to go on from
/// \throws Error{unsupported} on GPUs where the exchange needs the host: MPI, a proxy, Initiation::host
template <class Space, class Node, class... Views>
auto then_exchange(const Space& space, const Node& node, HaloExchange& halo, const Views&... views) {
  if constexpr (detail::is_host_space<Space>) {
    return node.then_host("comm::exchange", [&halo, space, views...] { halo.exchange(space, views...); });
  } else {
    const detail::DeviceScope scope(detail::device_of(space));
    halo.prepare_capture(views...);
    return node.cuda_capture(space,
                             [&halo, views...](const Space& instance) { halo.exchange(instance, views...); });
  }
}

}  // namespace selvage
