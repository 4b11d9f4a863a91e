#pragma once

#include "packed_faces.hpp"

#include <selvage/comm/context.hpp>

#include <functional>
#include <utility>

namespace selvage::bench {

/// The same exchange by NCCL: pack, one group of sends and receives, unpack, all enqueued on the faces'
/// instance.
/// \return one call per View; empty in a build without NCCL, and where ranks share a GPU
[[nodiscard]] std::pair<std::function<void()>, std::function<void()>> make_nccl_halos(
    const Context& context, const PackedFaces& first, const PackedFaces& second);

}  // namespace selvage::bench
