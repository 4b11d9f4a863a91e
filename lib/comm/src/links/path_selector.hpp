#pragma once

#include "runtime/environment_options.hpp"

#include <selvage/comm/detail/field.hpp>
#include <selvage/comm/options.hpp>

#include <span>
#include <string>
#include <string_view>

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
  std::int64_t bytes = 0;         ///< of typed transfers: to the rank or from it, whichever is more
  std::string gpu_aware_refusal;  ///< why MPI can't be given device pointers; empty: it can
  std::string waiting_kernels_refusal;  ///< why not those that running kernels wait for; empty: it can
  std::string threads_refusal;          ///< why services have no threads of their own; empty: they have
};

/// A decision and its reason.
struct Path {
  Transport transport = Transport::mpi_staged;
  Initiation initiation = Initiation::host;
  std::string why;
};

/// A transport that an object may take, and when it can't.
struct LinkCandidate {
  Transport transport;
  std::string_view reason;  ///< why it is preferred to those after it
  std::string (*refuse)(const PairFacts&);
  std::string (*refuse_initiation)(Initiation, const PairFacts&, bool on_host);
  bool (*suits)(const PairFacts&) = nullptr;  ///< where it isn't forced; null: everywhere
};

/// The first candidate that refuses neither the two ranks nor the initiation: the forced one, else stream where it can, else
/// host.
/// \param candidates  the most preferred first
/// \param objects     what they carry: "halos"
/// \param on_host     whether the plan's kernels run on the host
/// \throws Error{unsupported} when all are refused, with what was forced by whom, and the reasons
[[nodiscard]] Path select_path(std::span<const LinkCandidate> candidates, std::string_view objects,
                               const PairFacts& facts, const Forced<Transport>& transport,
                               const Forced<Initiation>& initiation, bool on_host);

}  // namespace selvage::detail
