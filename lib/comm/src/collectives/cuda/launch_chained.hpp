#pragma once

#include "allreduce_words.hpp"
#include "gpu/cuda/check.hpp"

#include <string_view>

namespace selvage::detail {

/// Starts a kernel that begins with begin_chained(): its launch overlaps the end of the kernel before it, also in a
/// captured graph, on GPUs that can.
template <class Kernel>
void launch_chained(Kernel kernel, const AllreduceProgram& program, cudaStream_t stream,
                    std::string_view name) {
  cudaLaunchAttribute chained{};
  chained.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  chained.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(program.blocks));
  config.blockDim = dim3(static_cast<unsigned>(program.threads));
  config.stream = stream;
  config.attrs = &chained;
  config.numAttrs = program.is_chained ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, program), name);
}

/// \tparam Family  has a name, and a kernel for each type, operation and number of ranks
template <class Family>
[[nodiscard]] AllreduceKernel kernel_of() {
  return {[](const AllreduceProgram& program) {
            const auto load = [&]<class T, ReduceOperation operation, int most_ranks>() {
              cudaFuncAttributes unused{};
              check_cuda(cudaFuncGetAttributes(&unused, Family::template kernel<T, operation, most_ranks>()),
                         Family::name);
            };
            with_kernel_arguments(program, load);
          },
          [](const AllreduceProgram& program, cudaStream_t stream) {
            const auto launch = [&]<class T, ReduceOperation operation, int most_ranks>() {
              launch_chained(Family::template kernel<T, operation, most_ranks>(), program, stream,
                             Family::name);
            };
            with_kernel_arguments(program, launch);
          }};
}

}  // namespace selvage::detail
