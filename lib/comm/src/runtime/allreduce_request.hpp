#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/detail/flow.hpp>

#include <string>
#include <string_view>

namespace selvage::detail {

/// What is asked of a collective, by its options and by the environment.
struct AllreduceRequest {
  AllreduceOptions options;
  std::string forced_by;  ///< what forces its algorithm
};

/// Of inner and outer neither is left open where one is given for hierarchical.
/// \throws Error{input} for what the environment says, Error{usage} for options that don't go together
/// \param kind  the environment is for Allreduces
[[nodiscard]] AllreduceRequest read_allreduce_request(const AllreduceOptions& options,
                                                      CollectiveKind kind = CollectiveKind::allreduce,
                                                      bool on_host = true);

/// Sets what SELVAGE_ALLREDUCE says: an algorithm, "hierarchical:INNER,OUTER[:GROUP_SIZE]" or "pipelined:GROUP_SIZE".
/// \throws Error{input}
void parse_forced_allreduce(std::string_view text, AllreduceOptions& options);

/// What SELVAGE_ALLREDUCE would have to say for an algorithm as these options have it.
[[nodiscard]] std::string form_of(AllreduceAlgorithm algorithm, const AllreduceOptions& options);

}  // namespace selvage::detail
