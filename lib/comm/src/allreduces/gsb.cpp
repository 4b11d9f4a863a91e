#include "gsb.hpp"

#include "levels.hpp"

namespace selvage::detail {

std::unique_ptr<AllreduceRunner> make_gsb(const AllreduceParts& parts) {
  return make_levels(parts, {all_ranks(parts)}, AllreduceAlgorithm::gsb, AllreduceAlgorithm::mpi,
                     {.chunk_bytes = 256 * 1024, .lanes = 2});
}

}  // namespace selvage::detail
