#pragma once

#include <selvage/comm/detail/bucket_timeline.hpp>

#include <memory>

namespace selvage::detail {

/// A stream of its own on the current GPU. \throws Error{unsupported} without a GPU backend, Error{cuda}
[[nodiscard]] std::unique_ptr<BucketTimeline> make_device_timeline(bool high_priority);

}  // namespace selvage::detail
