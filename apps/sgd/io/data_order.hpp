#pragma once

#include <cstdint>
#include <vector>

namespace selvage::sgd {

/// Samples [begin, end) of a batch.
struct SampleRange {
  std::int64_t begin;
  std::int64_t end;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
  friend bool operator==(const SampleRange&, const SampleRange&) = default;
};

/// The samples in the order in which an epoch meets them: a permutation of 0 ... samples-1 that depends on seed and epoch
/// alone, so it is the same on any number of ranks and after a restart.
[[nodiscard]] std::vector<std::int64_t> order_of_epoch(std::int64_t samples, std::int64_t seed,
                                                       std::int64_t epoch);

/// A batch cut into grains, the last of which may be smaller; a rank has neighbouring ones, and no two ranks differ by
/// more than one grain. Where the cuts lie doesn't depend on the number of ranks.
/// \return the rank's grains, in samples of the batch
[[nodiscard]] std::vector<SampleRange> grains_of_rank(std::int64_t batch, std::int64_t grain, int ranks,
                                                      int rank);

/// The samples of all these grains, which follow each other.
[[nodiscard]] SampleRange span_of(const std::vector<SampleRange>& grains);

}  // namespace selvage::sgd
