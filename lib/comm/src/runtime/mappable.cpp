#include "mappable.hpp"

#include "context_state.hpp"

namespace selvage::detail {

Buffer allocate_mappable(ContextState& context, const Executor& executor, std::size_t bytes) {
  if (!executor.runs_on_host()) return executor.allocate_zeroed(bytes);
  Arena& arena = context.arena();
  std::byte* data = arena.allocate(bytes);
  return {data, std::shared_ptr<void>(data, [&arena](void* block) { arena.deallocate(block); })};
}

std::string_view why_unmappable(MemoryKind memory) {
  return memory == MemoryKind::host ? "is not in shared memory (Grid::allocate gives such)"
                                    : "is in GPU memory that no other process can map (as what "
                                      "cudaMallocAsync gives: build Kokkos with "
                                      "Kokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF)";
}

}  // namespace selvage::detail
