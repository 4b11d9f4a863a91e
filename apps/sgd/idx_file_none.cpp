#include "sgd/idx_file.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

namespace selvage::sgd {

IdxArray read_idx(const std::string& path) {
  throw Error(ErrorKind::unsupported,
              fmt::format("{}: this build reads no IDX files, for want of zlib", path));
}

DataSet read_idx_data_set(const std::string& folder) {
  static_cast<void>(read_idx(folder + "/train-images-idx3-ubyte"));
  return {};
}

}  // namespace selvage::sgd
