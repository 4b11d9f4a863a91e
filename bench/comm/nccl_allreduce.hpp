#pragma once

#include <selvage/comm/context.hpp>
#include <selvage/comm/detail/describe_elements.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace selvage::bench {

/// ncclAllReduce in place, enqueued on the instance; empty in a build without NCCL, and where ranks share a GPU.
/// \param elements  of device memory
/// \param type      fp32 or bf16
[[nodiscard]] std::function<void()> make_nccl_allreduce(const Context& context,
                                                        const Kokkos::DefaultExecutionSpace& space,
                                                        void* elements, std::size_t count,
                                                        detail::ElementType type);
template <class View>
[[nodiscard]] std::function<void()> make_nccl_allreduce(const Context& context,
                                                        const Kokkos::DefaultExecutionSpace& space,
                                                        const View& view) {
  return make_nccl_allreduce(context, space, view.data(), view.size(),
                             detail::ElementTypeOf<typename View::value_type>::value);
}

/// Collective: device memory that NCCL has registered as a symmetric window; null where no NCCL can.
[[nodiscard]] std::shared_ptr<void> allocate_nccl_window(const Context& context, std::size_t bytes);

}  // namespace selvage::bench
