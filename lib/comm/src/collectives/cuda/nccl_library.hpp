#pragma once

#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/elements.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace selvage::detail {

class ContextState;

/// NCCL, opened at run time: what combines what ranks of different hosts hold. It has no bound on waiting: with a dead
/// rank its kernels never end.
class NcclGroup {
 public:
  NcclGroup() = default;
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  virtual ~NcclGroup() = default;

  /// In place, enqueued. \param type  not a 16-bit one \param operation  an average is the sum
  virtual void allreduce(std::byte* values, std::int64_t count, ElementType type, ReduceOperation operation,
                         cudaStream_t stream) = 0;
};

/// Collective over the context. Made once per group and context, since that takes seconds, and kept by the context.
/// \param group  ranks, each on a GPU of its own, this one among them
/// \throws Error{unsupported} without NCCL, Error{cuda} with NCCL's text
[[nodiscard]] NcclGroup& nccl_group(ContextState& context, const std::vector<int>& group);

}  // namespace selvage::detail
