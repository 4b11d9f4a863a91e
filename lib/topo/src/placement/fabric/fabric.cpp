#include <selvage/counted.hpp>
#include <selvage/error.hpp>
#include <selvage/topo/fabric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace selvage::topo {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::input, what);
}

/// Square, symmetric, and in range off the diagonal.
void check_costs(const std::string& what, const std::vector<std::uint32_t>& costs, std::size_t size) {
  if (costs.size() != size * size) fail(fmt::format("{} of {}: {} costs", what, size, costs.size()));
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const std::uint32_t cost = costs[a * size + b];
      if (cost < 1 || cost > Fabric::max_cost) {
        fail(fmt::format("{}: the cost between {} and {} is {}, not 1 to {}", what, b, a, cost,
                         Fabric::max_cost));
      }
      if (cost != costs[b * size + a]) {
        fail(fmt::format("{}: from {} to {} costs {}, the way back {}", what, a, b, cost,
                         costs[b * size + a]));
      }
    }
  }
}

void complete(FabricHost& host) {
  if (host.slots < 1 || host.slots > Fabric::max_slots) {
    fail(fmt::format("host {} has {}", host.name, counted(host.slots, "slot")));
  }
  if (host.slot_costs.empty()) return;
  const auto size = static_cast<std::size_t>(host.slots);
  check_costs("host " + host.name, host.slot_costs, size);
  for (std::size_t slot = 0; slot < size; ++slot) host.slot_costs[slot * size + slot] = 0;
}

void check_endpoints(const Network* network, const std::vector<int>& endpoints, std::size_t hosts) {
  if (network == nullptr) return;
  if (!endpoints.empty() && endpoints.size() != hosts) {
    fail(fmt::format("{} endpoints of {} hosts", endpoints.size(), hosts));
  }
  for (std::size_t host = 0; host < hosts; ++host) {
    const int endpoint = endpoints.empty() ? static_cast<int>(host) : endpoints[host];
    if (endpoint >= 0 && endpoint < network->endpoint_count()) continue;
    fail(fmt::format("host {} is endpoint {} of {}", host, endpoint, network->endpoint_count()));
  }
}

}  // namespace

Fabric::Fabric(FabricParts parts)
    : description_(std::move(parts.description)),
      hosts_(std::move(parts.hosts)),
      host_costs_(std::move(parts.host_costs)),
      slot_hosts_(std::move(parts.slot_hosts)),
      network_(std::move(parts.network)),
      endpoints_(std::move(parts.endpoints)) {
  if (hosts_.empty() || hosts_.size() > max_hosts) {
    fail(fmt::format("a fabric of {} hosts; 1 to {} are possible", hosts_.size(), max_hosts));
  }
  for (FabricHost& host : hosts_) complete(host);
  check_costs("hosts", host_costs_, hosts_.size());
  for (std::size_t host = 0; host < hosts_.size(); ++host) host_costs_[host * hosts_.size() + host] = 0;
  check_endpoints(network_.get(), endpoints_, hosts_.size());
  number_slots();
  measure_costs();
}

void Fabric::number_slots() {
  std::int64_t slots = 0;
  for (const FabricHost& host : hosts_) slots += host.slots;
  if (slots > max_slots) fail(fmt::format("a fabric of {} slots; up to {} are possible", slots, max_slots));
  if (slot_hosts_.empty()) {
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      slot_hosts_.insert(slot_hosts_.end(), static_cast<std::size_t>(hosts_[host].slots),
                         static_cast<int>(host));
    }
  }
  slots_of_.resize(hosts_.size());
  for (std::size_t slot = 0; slot < slot_hosts_.size(); ++slot) {
    const int host = slot_hosts_[slot];
    if (host < 0 || host >= host_count())
      fail(fmt::format("slot {} is on host {} of {}", slot, host, host_count()));
    index_in_host_.push_back(static_cast<int>(slots_of_[host].size()));
    slots_of_[host].push_back(static_cast<int>(slot));
  }
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (slots_of_[host].size() == static_cast<std::size_t>(hosts_[host].slots)) continue;
    fail(fmt::format("host {} has {}, {} were given", host, counted(hosts_[host].slots, "slot"),
                     slots_of_[host].size()));
  }
}

void Fabric::measure_costs() {
  const auto see = [&](std::uint32_t cost) {
    smallest_ = std::min(smallest_, cost);
    largest_ = std::max(largest_, cost);
  };
  for (const FabricHost& host : hosts_) {
    const FabricHost& first = hosts_.front();
    equal_hosts_ = equal_hosts_ && host.slots == first.slots && host.slot_costs == first.slot_costs;
    if (host.slot_costs.empty() && host.slots > 1) see(1);
    for (const std::uint32_t cost : host.slot_costs) {
      if (cost != 0) see(cost);
    }
  }
  for (std::size_t a = 0; a < hosts_.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) see(host_costs_[a * hosts_.size() + b]);
  }
  flat_ = largest_ == 0 || smallest_ == largest_;
}

}  // namespace selvage::topo
