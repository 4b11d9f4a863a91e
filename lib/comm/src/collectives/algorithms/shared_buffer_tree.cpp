#include "shared_buffer_tree.hpp"

#include "levels.hpp"

namespace selvage::detail {

std::unique_ptr<AllreduceRunner> make_shared_buffer_tree(const AllreduceParts& parts) {
  return make_levels(parts, {all_ranks(parts)}, AllreduceAlgorithm::shared_buffer_tree,
                     AllreduceAlgorithm::mpi, {.chunk_bytes = 256 * 1024, .lanes = 2});
}

}  // namespace selvage::detail
