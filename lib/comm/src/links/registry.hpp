#pragma once

#include "path_selector.hpp"
#include "transport.hpp"

#include <memory>
#include <span>
#include <string>

namespace selvage::detail {

/// A transport: when it is possible, and how it is made.
struct TransportEntry {
  Transport transport;
  std::string reason;  ///< why it is preferred to those after it
  std::string (*refuse)(const PairFacts&);
  std::string (*refuse_initiation)(Initiation, const PairFacts&, bool on_host);
  std::unique_ptr<Link> (*make)(TransportParts);
};

/// All transports that are built in, the most preferred first. The conformance suite runs over this list.
[[nodiscard]] std::span<const TransportEntry> transports();

}  // namespace selvage::detail
