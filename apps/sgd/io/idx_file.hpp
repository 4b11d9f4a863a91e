#pragma once

#include "sgd/io/data_set.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace selvage::sgd {

/// An array of bytes in the IDX format, in a file as it is, or compressed by gzip: then all of it is unpacked in memory.
///
/// Source: LeCun, Cortes, Burges: The MNIST Database of Handwritten Digits, "the IDX file format".
class IdxFile {
 public:
  /// \throws Error{input} that names the file and what is wrong: absent, truncated, longer than it says, not of bytes;
  ///         Error{unsupported} in a build without zlib
  explicit IdxFile(const std::string& path);
  IdxFile(IdxFile&&) noexcept;
  ~IdxFile();

  [[nodiscard]] const std::vector<std::int64_t>& extent() const { return extent_; }
  /// \param begin  the first element, counted through the array \throws Error{input} for what can't be read
  void read(std::int64_t begin, std::span<std::uint8_t> values) const;

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
  std::vector<std::int64_t> extent_;
  std::vector<std::uint8_t> unpacked_;  ///< empty where the file is read in place
};

/// A folder with train-images-idx3-ubyte, train-labels-idx1-ubyte and the same with t10k for train, each with or without
/// ".gz". Pixels become 0 to 1.
class IdxSamples final : public SampleSource {
 public:
  /// \throws as IdxFile; Error{input} for images and labels that don't fit each other
  explicit IdxSamples(const std::string& folder);

  void read(Part part, std::span<const std::int64_t> samples, float* features, int* labels) const override;

 private:
  struct Files {
    IdxFile images;
    IdxFile labels;
  };
  struct Parts {
    Files train;
    Files test;
  };
  IdxSamples(const std::string& folder, Parts parts);
  [[nodiscard]] static Files open(const std::string& prefix);
  [[nodiscard]] static Shape shape_of(const std::string& folder, const Parts& parts);

  Parts parts_;
};

}  // namespace selvage::sgd
