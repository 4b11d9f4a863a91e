#include "nccl_allreduce.hpp"

#include "nccl.hpp"

namespace selvage::bench {

std::function<void()> make_nccl_allreduce(const Context& context, const Kokkos::DefaultExecutionSpace& space,
                                          void* elements, std::size_t count, detail::ElementType type) {
  ncclComm_t made = nccl_communicator(context);
  if (made == nullptr) return {};
  const ncclDataType_t known = type == detail::ElementType::bf16 ? ncclBfloat16 : ncclFloat;
  return [made, space, elements, count, known] {
    check_nccl(ncclAllReduce(elements, elements, count, known, ncclSum, made, space.cuda_stream()),
               "ncclAllReduce");
  };
}

#if NCCL_VERSION_CODE >= 22700
std::shared_ptr<void> allocate_nccl_window(const Context& context, std::size_t bytes) {
  ncclComm_t made = nccl_communicator(context);
  if (made == nullptr) return nullptr;
  void* memory = nullptr;
  check_nccl(ncclMemAlloc(&memory, bytes), "ncclMemAlloc");
  ncclWindow_t window = nullptr;
  check_nccl(ncclCommWindowRegister(made, memory, bytes, &window, NCCL_WIN_COLL_SYMMETRIC),
             "ncclCommWindowRegister");
  return {memory, [made, window](void* block) {
            static_cast<void>(ncclCommWindowDeregister(made, window));
            static_cast<void>(ncclMemFree(block));
          }};
}
#else
std::shared_ptr<void> allocate_nccl_window(const Context&, std::size_t) {
  return nullptr;
}
#endif

}  // namespace selvage::bench
