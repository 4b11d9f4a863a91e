#pragma once

#include "common/hdf5_file.hpp"
#include "sgd/io/data_set.hpp"

#include <string>

namespace selvage::sgd {

/// An HDF5 file with the attribute classes and the arrays train_features, test_features (samples x width, fp32) and
/// train_labels, test_labels (int32), as scripts/make-digits.py writes.
class Hdf5Samples final : public SampleSource {
 public:
  /// \throws Error{input} that names the file and what is wrong: absent, truncated, of other shapes, without samples
  explicit Hdf5Samples(const std::string& path);

  void read(Part part, std::span<const std::int64_t> samples, float* features, int* labels) const override;
  void read_range(Part part, SampleRange range, float* features, int* labels) const override;

 private:
  app::Hdf5Reader file_;
};

}  // namespace selvage::sgd
