#pragma once

#include "sgd/data_set.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::sgd {

/// An IDX file's array of bytes.
struct IdxArray {
  std::vector<std::int64_t> extent;
  std::vector<std::uint8_t> values;  ///< row-major
};

/// Reads a file in the IDX format, as it is or compressed by gzip. Not collective.
/// \throws Error{input} that names the file and what is wrong: absent, truncated, longer than it says, not of bytes;
///         Error{unsupported} in a build without zlib
///
/// Source: LeCun, Cortes, Burges: The MNIST Database of Handwritten Digits, "the IDX file format".
[[nodiscard]] IdxArray read_idx(const std::string& path);

/// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte and the same with t10k for train from a folder, each with or
/// without ".gz". Pixels become 0 to 1; classes go up to the largest label to train with. Not collective.
/// \throws Error{input} as read_idx(), for images and labels that don't fit each other, and labels to test that no sample
///         to train has
[[nodiscard]] DataSet read_idx_data_set(const std::string& folder);

}  // namespace selvage::sgd
