#include "sgd/io/data_order.hpp"

#include "sgd/model/random.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace selvage::sgd {

std::vector<std::int64_t> order_of_epoch(std::int64_t samples, std::int64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  Random random(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(epoch));
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[static_cast<std::size_t>(random.below(left))]);
  return order;
}

std::vector<SampleRange> grains_of_rank(std::int64_t batch, std::int64_t grain, int ranks, int rank) {
  const std::int64_t grains = (batch + grain - 1) / grain;
  std::vector<SampleRange> own;
  for (std::int64_t g = grains * rank / ranks; g < grains * (rank + 1) / ranks; ++g)
    own.push_back({g * grain, std::min(batch, (g + 1) * grain)});
  return own;
}

SampleRange span_of(const std::vector<SampleRange>& grains) {
  if (grains.empty()) return {0, 0};
  return {grains.front().begin, grains.back().end};
}

}  // namespace selvage::sgd
