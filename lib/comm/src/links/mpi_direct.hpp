#pragma once

#include "path_selector.hpp"
#include "transport.hpp"

namespace selvage::detail {

[[nodiscard]] std::unique_ptr<Link> make_mpi_direct_transport(TransportParts parts);
[[nodiscard]] std::string refuse_mpi_direct(const PairFacts& facts);
[[nodiscard]] std::string refuse_mpi_direct_initiation(Initiation initiation, const PairFacts& facts,
                                                       bool on_host);

}  // namespace selvage::detail
