#pragma once

#include <selvage/comm/detail/field.hpp>
#include <selvage/comm/options.hpp>

#include <optional>
#include <string>

namespace selvage::detail {

/// What the choice of a transport between two ranks depends on. Both ranks see the same facts.
struct PairFacts {
  int rank = 0;                   ///< the other one
  bool same_host = false;         ///< logical host
  std::string mapping_refusal;    ///< why ranks of a host can't map each other's memory; empty: they can
  std::string unshared_field;     ///< names a View that isn't in shared memory, and its rank; empty: all are
  bool device_memory = false;     ///< at least one View of the two lies in GPU memory
  std::string gpu_aware_refusal;  ///< why MPI can't be given device pointers; empty: it can
};

/// A decision and its reason.
struct Path {
  Transport transport = Transport::mpi_staged;
  std::string why;
};

/// The first transport of the registry that doesn't refuse, or the forced one.
/// \param forced_by  who forces it, for messages: "the option `transport`" or "SELVAGE_TRANSPORT"
/// \throws Error{unsupported} when the forced one refuses, with its reason
[[nodiscard]] Path select_path(const PairFacts& facts, std::optional<Transport> forced,
                               const std::string& forced_by);

}  // namespace selvage::detail
