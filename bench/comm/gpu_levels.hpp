#pragma once

#include <selvage/comm/context.hpp>

#include <optional>

namespace selvage::bench {

/// The levels of a sum over ranks that share GPUs: the ranks of one GPU, and those that are as many-th on theirs.
/// Source: Faraji, thesis ch. 4, whose lowest level is the GPU.
struct GpuLevels {
  Context within;
  Context between;
};

/// Collective. \return nothing unless there are several GPUs, each with the same number of ranks, at least two
[[nodiscard]] std::optional<GpuLevels> gpu_levels(const Context& context);

}  // namespace selvage::bench
