#include "mappable.hpp"

#include "context_state.hpp"

#include <selvage/comm/detail/managed_view.hpp>

#include <atomic>
#include <cstddef>

namespace selvage::detail {

Buffer allocate_mappable(ContextState& context, const Executor& executor, std::size_t bytes) {
  if (!executor.runs_on_host()) return executor.allocate_zeroed(bytes);
  std::shared_ptr<void> block = Arena::allocate_owned(context.shared_arena(), bytes);
  return {static_cast<std::byte*>(block.get()), block};
}

std::shared_ptr<void> allocate_view_block(ContextState& context, std::size_t bytes) {
  // Processors compare a load with earlier stores by the low twelve bits of the addresses. Consecutive Views
  // begin 39 lines apart within a page, farther than the rows of most stencils. 39 is odd, so each of the 64 lines is used once before any
  // comes again.
  constexpr std::size_t compared = 4096, line = 64, step = 39 * line;
  static std::atomic<std::size_t> blocks = 0;
  const std::size_t offset = blocks++ * step % compared;
  std::shared_ptr<void> block = Arena::allocate_owned(context.shared_arena(), bytes + offset);
  return {block, static_cast<std::byte*>(block.get()) + offset};
}

std::string_view why_unmappable(MemoryKind memory) {
  return memory == MemoryKind::host ? "is not in shared memory (Grid::allocate gives such)"
                                    : "is in GPU memory that no other process can map (as what "
                                      "cudaMallocAsync gives: build Kokkos with "
                                      "Kokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC=OFF)";
}

}  // namespace selvage::detail
