#include "nccl_halo.hpp"

namespace selvage::bench {

std::pair<std::function<void()>, std::function<void()>> make_nccl_halos(MPI_Comm, const PackedFaces&,
                                                                        const PackedFaces&) {
  return {};
}

}  // namespace selvage::bench
