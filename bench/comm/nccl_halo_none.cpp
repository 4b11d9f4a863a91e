#include "nccl_halo.hpp"

namespace selvage::bench {

std::pair<std::function<void()>, std::function<void()>> make_nccl_halos(const Context&, const PackedFaces&,
                                                                        const PackedFaces&) {
  return {};
}

}  // namespace selvage::bench
