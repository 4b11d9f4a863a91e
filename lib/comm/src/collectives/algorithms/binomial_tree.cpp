#include "binomial_tree.hpp"

#include "levels.hpp"

namespace selvage::detail {

std::unique_ptr<AllreduceRunner> make_binomial_tree(const AllreduceParts& parts) {
  return make_levels(parts, {all_ranks(parts)}, AllreduceAlgorithm::binomial_tree, AllreduceAlgorithm::mpi,
                     {.chunk_bytes = 256 * 1024, .lanes = 2});
}

}  // namespace selvage::detail
