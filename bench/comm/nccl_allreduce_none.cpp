#include "nccl_allreduce.hpp"

namespace selvage::bench {

std::function<void()> make_nccl_allreduce(const Context&, const Kokkos::DefaultExecutionSpace&, void*,
                                          std::size_t, detail::ElementType) {
  return {};
}
std::shared_ptr<void> allocate_nccl_window(const Context&, std::size_t) {
  return nullptr;
}

}  // namespace selvage::bench
