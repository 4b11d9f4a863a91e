#pragma once

#include <selvage/comm/gradient_buckets.hpp>

#include <bit>
#include <cstdint>
#include <map>
#include <vector>

namespace selvage::sgd {

/// How large the buckets of a training are, and how fast they travel: by powers of two of their bytes.
class BucketHistogram {
 public:
  struct Row {
    std::int64_t count = 0;
    std::int64_t bytes = 0;  ///< of all of them
    double seconds = 0;      ///< from being ready to the result; 0 where it isn't known
    [[nodiscard]] double gigabytes_per_second() const {
      return seconds > 0 ? static_cast<double>(bytes) / seconds * 1e-9 : 0;
    }
  };

  /// Those of a step.
  void add(const std::vector<GradientBuckets::Report>& buckets) {
    for (const GradientBuckets::Report& bucket : buckets) {
      if (bucket.bytes == 0) continue;
      Row& row = rows_[std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(bucket.bytes)) - 1)];
      ++row.count;
      row.bytes += bucket.bytes;
      row.seconds += bucket.seconds;
    }
  }
  /// By the least size of a row; its sizes stay below twice that.
  [[nodiscard]] const std::map<std::int64_t, Row>& rows() const { return rows_; }

 private:
  std::map<std::int64_t, Row> rows_;
};

}  // namespace selvage::sgd
