#pragma once

#include "allreduces/allreduce_algorithm.hpp"

#include <memory>

namespace selvage::detail {

/// Kernels take an address per rank in their arguments.
inline constexpr int most_allreduce_ranks = 8;

/// The algorithms' forms as kernels on the caller's instance: start() and progress() enqueue, nothing blocks, and a
/// captured graph can be replayed. \throws Error{unsupported} without a GPU backend
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_device_one_shot(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_device_two_shot(const AllreduceParts& parts);
/// Those that there are on GPUs only.
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_one_shot_ll128(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_two_shot_ll128(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_two_shot_push(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_two_shot_copy_engine(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_copy_engine(const AllreduceParts& parts);
[[nodiscard]] std::unique_ptr<AllreduceRunner> make_multi_ring(const AllreduceParts& parts);

}  // namespace selvage::detail
