#pragma once

#include <selvage/comm/context.hpp>

#include <nccl.h>

#include <string_view>

namespace selvage::bench {

/// \throws Error{cuda}
void check_nccl(ncclResult_t code, std::string_view call);

/// One communicator per process, for all figures: making one takes a second. Null where ranks share a GPU, which NCCL refuses.
[[nodiscard]] ncclComm_t nccl_communicator(const Context& context);

}  // namespace selvage::bench
