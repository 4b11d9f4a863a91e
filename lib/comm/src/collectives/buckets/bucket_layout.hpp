#pragma once

#include <selvage/comm/allreduce.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace selvage::detail {

/// Which gradients a bucket has, and where they lie in it: as in memory where they follow each other there, else in order.
struct BucketLayout {
  std::vector<int> gradients;
  std::vector<std::int64_t> offsets;  ///< in elements, beside gradients
  ElementType type = ElementType::fp32;
  ElementType wire = ElementType::fp32;
  std::int64_t count = 0;
};

/// Bytes of an element, to multiply with counts.
[[nodiscard]] constexpr std::int64_t width(ElementType type) {
  return static_cast<std::int64_t>(element_bytes(type));
}

/// Cuts gradients into buckets: consecutive ones of `order`, of one type, until the next would exceed `bucket_bytes`.
/// Buckets that are complete earlier come earlier.
[[nodiscard]] std::vector<BucketLayout> lay_out_buckets(std::span<const Elements> gradients,
                                                        std::span<const int> order, std::int64_t bucket_bytes,
                                                        bool bf16_on_the_wire);

}  // namespace selvage::detail
