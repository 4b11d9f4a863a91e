#pragma once

#include "path_selector.hpp"
#include "transport.hpp"

namespace selvage::detail {

[[nodiscard]] std::unique_ptr<Link> make_mpi_staged_transport(TransportParts parts);
[[nodiscard]] std::string refuse_mpi_staged(const PairFacts& facts);

}  // namespace selvage::detail
