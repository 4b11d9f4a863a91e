#include "mappable.hpp"

#include "context_state.hpp"

#include <selvage/comm/detail/managed_view.hpp>

namespace selvage::detail {

Buffer allocate_mappable(ContextState& context, const Executor& executor, std::size_t bytes) {
  if (!executor.runs_on_host()) return executor.allocate_zeroed(bytes);
  std::shared_ptr<void> block = allocate_view_block(context, bytes);
  return {static_cast<std::byte*>(block.get()), block};
}

std::shared_ptr<void> allocate_view_block(ContextState& context, std::size_t bytes) {
  return Arena::allocate_owned(context.shared_arena(), bytes);
}

std::string_view why_unmappable(MemoryKind memory) {
  return memory == MemoryKind::host ? "is not in shared memory (Grid::allocate gives such)"
                                    : "is in GPU memory that no other process can map (as what "
                                      "cudaMallocAsync gives: build Kokkos with "
                                      "Kokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF)";
}

}  // namespace selvage::detail
