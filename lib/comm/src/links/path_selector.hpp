#pragma once

#include <selvage/comm/detail/field.hpp>
#include <selvage/comm/options.hpp>

#include <optional>
#include <string>

namespace selvage::detail {

/// What the choice of a transport between two ranks depends on. Both ranks see the same facts.
struct PairFacts {
  int rank = 0;                      ///< the other one
  bool same_host = false;            ///< logical host
  std::string mapping_refusal;       ///< why ranks of a host can't map each other's memory; empty: they can
  std::string host_mapping_refusal;  ///< the same of their host memory alone
  std::string unshared_field;     ///< names a View that isn't in shared memory, and its rank; empty: all are
  bool device_memory = false;     ///< at least one View of the two lies in GPU memory
  bool host_memory = false;       ///< at least one View of the two lies in host memory
  std::int64_t block_bytes = 0;   ///< of typed transfers: of elements that follow each other, in the mean
  std::string gpu_aware_refusal;  ///< why MPI can't be given device pointers; empty: it can
  std::string waiting_kernels_refusal;  ///< why not those that running kernels wait for; empty: it can
};

/// A decision and its reason.
struct Path {
  Transport transport = Transport::mpi_staged;
  Initiation initiation = Initiation::host;
  std::string why;
};

/// What the user asked for, and where: "the option transport", "SELVAGE_TRANSPORT".
template <class Choice>
struct Forced {
  std::optional<Choice> choice;
  std::string by;
};

/// The first transport of the registry that doesn't refuse, or the forced one; then the forced initiation,
/// or stream where the transport has it, else host.
/// \param on_host  whether the plan's kernels run on the host
/// \throws Error{unsupported} when something forced is refused, with the reason
[[nodiscard]] Path select_path(const PairFacts& facts, const Forced<Transport>& transport,
                               const Forced<Initiation>& initiation, bool on_host);

}  // namespace selvage::detail
