#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::sgd {

/// Labelled samples in host memory.
struct Samples {
  std::vector<float> features;  ///< samples x width, row-major
  std::vector<int> labels;
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

struct DataSet {
  int width;    ///< features of a sample
  int classes;  ///< labels are 0 ... classes-1
  Samples train;
  Samples test;
  /// Of every feature and label, to tell whether a checkpoint was made with these data.
  [[nodiscard]] std::uint64_t fingerprint() const;
};

/// FNV-1a over the bytes, going on from `hash`.
[[nodiscard]] std::uint64_t hash_bytes(const void* bytes, std::size_t count,
                                       std::uint64_t hash = 0xcbf29ce484222325U);

/// Reads an HDF5 file with the attribute classes and the arrays train_features, test_features (samples x width, fp32) and
/// train_labels, test_labels (int32), as scripts/make-digits.py writes. Not collective.
/// \throws Error{input} that names the file and what is wrong: absent, truncated, of other shapes, without samples, a
/// label out of range, a feature that isn't finite
[[nodiscard]] DataSet read_data_set(const std::string& path);

}  // namespace selvage::sgd
