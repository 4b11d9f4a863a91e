#pragma once

#include "allreduce_algorithm.hpp"

#include <memory>
#include <string>

namespace selvage::topo {
class Machine;
}

namespace selvage::detail {

/// Hosts combine their ranks' elements one after the other, in rank order: each adds its own to what the host before
/// has sent, and the last gives the result to all (Faraji, thesis ch. 4, Selvage mechanism B3; with an
/// order, so that the bits are those of every other algorithm). Inside a host through shared memory. The ranks of a
/// host share the elements between them: each leads for its part, and exchanges it with the ranks of the same place on
/// the other hosts.
///
/// For n elements and H hosts, (H - 1) n leave hosts on the way there, as accumulators, and (H - 1) n on the way back:
/// for two hosts the least that any allreduce can do. Between GPUs both ways as accumulators, through host memory, and
/// hosts have equally many; a host's GPUs combine by two_shot, each its part.
///
/// With AllreduceOptions::inner or outer, the thesis's own form instead: each host combines at its first rank by the one,
/// these combine by the other, and hosts share the result.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_hierarchical(const AllreduceParts& parts);

/// Why ranks of hosts can't be combined in rank order; empty where they can.
[[nodiscard]] std::string refuse_hierarchy(const topo::Machine& machine);

}  // namespace selvage::detail
