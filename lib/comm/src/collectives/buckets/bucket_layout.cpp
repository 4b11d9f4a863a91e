#include "bucket_layout.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace selvage::detail {
namespace {

std::int64_t bytes_of(const Elements& elements) {
  return elements.count * width(elements.type);
}

/// Assigns offsets to gradients: as they lie in memory if they are contiguous there, and otherwise in their order.
void place(BucketLayout& bucket, std::span<const Elements> gradients) {
  bucket.offsets.resize(bucket.gradients.size());
  const auto of = [&](std::size_t i) -> const Elements& {
    return gradients[static_cast<std::size_t>(bucket.gradients[i])];
  };
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < bucket.gradients.size(); ++i) {
    if (of(i).count > 0) places.push_back(i);
  }
  const std::vector<std::size_t> in_order = places;
  std::ranges::sort(places, [&](std::size_t a, std::size_t b) { return of(a).data < of(b).data; });
  const auto gap = std::ranges::adjacent_find(
      places, [&](std::size_t a, std::size_t b) { return of(a).data + bytes_of(of(a)) != of(b).data; });
  if (places.empty()) return;
  if (gap != places.end() || bucket.wire != bucket.type) places = in_order;
  for (const std::size_t i : places) {
    bucket.offsets[i] = bucket.count;
    bucket.count += of(i).count;
  }
}

}  // namespace

std::vector<BucketLayout> lay_out_buckets(std::span<const Elements> gradients, std::span<const int> order,
                                          std::int64_t bucket_bytes, bool bf16_on_the_wire) {
  struct Open {
    BucketLayout bucket;
    std::int64_t bytes = 0;
    std::size_t last = 0;  ///< of its gradients, by place in `order`
  };
  std::vector<Open> done;
  std::vector<Open> open;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Elements& gradient = gradients[static_cast<std::size_t>(order[at])];
    auto fitting = std::ranges::find(open, gradient.type, [](const Open& each) { return each.bucket.type; });
    if (fitting != open.end() && fitting->bytes + bytes_of(gradient) > bucket_bytes) {
      done.push_back(std::move(*fitting));
      open.erase(fitting);
      fitting = open.end();
    }
    if (fitting == open.end()) {
      Open& opened = open.emplace_back();
      opened.bucket.type = gradient.type;
      opened.bucket.wire =
          bf16_on_the_wire && gradient.type == ElementType::fp32 ? ElementType::bf16 : gradient.type;
      fitting = open.end() - 1;
    }
    fitting->bucket.gradients.push_back(order[at]);
    fitting->bytes += bytes_of(gradient);
    fitting->last = at;
  }
  std::ranges::move(open, std::back_inserter(done));
  std::ranges::sort(done, {}, &Open::last);
  std::vector<BucketLayout> buckets;
  for (Open& each : done) {
    place(each.bucket, gradients);
    buckets.push_back(std::move(each.bucket));
  }
  return buckets;
}

}  // namespace selvage::detail
