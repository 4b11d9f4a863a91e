#include "sgd/idx_file.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

namespace selvage::sgd {
namespace {

constexpr std::uint8_t type_of_bytes = 0x08;

/// gzread() gives what isn't compressed as it is.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb"), gzclose) {
    if (file_ == nullptr) refuse("cannot be opened");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::input, fmt::format("{}: {}", path_, why));
  }
  /// \return how many of them there were
  std::size_t read_some(std::span<std::uint8_t> bytes) const {
    constexpr std::size_t most = std::size_t{1} << 30;
    const auto wanted = static_cast<unsigned>(std::min(bytes.size(), most));
    const int count = gzread(file_.get(), bytes.data(), wanted);
    int code = 0;
    if (count < 0) refuse(gzerror(file_.get(), &code));
    return static_cast<std::size_t>(count);
  }
  void read(std::span<std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const std::size_t count = read_some(bytes);
      if (count == 0) refuse(fmt::format("ends {} bytes too early", bytes.size()));
      bytes = bytes.subspan(count);
    }
  }

 private:
  std::string path_;
  std::unique_ptr<gzFile_s, decltype(&gzclose)> file_;
};

std::vector<std::int64_t> read_extent(const Reader& file, int dimensions) {
  std::vector<std::int64_t> extent;
  std::int64_t count = 1;
  for (int i = 0; i < dimensions; ++i) {
    std::array<std::uint8_t, 4> bytes{};
    file.read(bytes);
    extent.push_back(std::int64_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
    if (extent.back() == 0) file.refuse("has no elements");
    if (count > (std::int64_t{1} << 36) / extent.back())
      file.refuse("says that it has more than 2^36 elements");
    count *= extent.back();
  }
  return extent;
}

IdxArray read_either(const std::string& path) {
  if (gzFile compressed = gzopen((path + ".gz").c_str(), "rb"); compressed != nullptr) {
    gzclose(compressed);
    return read_idx(path + ".gz");
  }
  return read_idx(path);
}

/// \param width  features of a sample
Samples read_part(const std::string& prefix, std::int64_t& width) {
  const IdxArray images = read_either(prefix + "-images-idx3-ubyte");
  const IdxArray labels = read_either(prefix + "-labels-idx1-ubyte");
  if (images.extent.size() != 3 || labels.extent.size() != 1 || images.extent[0] != labels.extent[0])
    throw Error(ErrorKind::input,
                fmt::format("{}: images must be samples x rows x columns, and as many labels", prefix));
  width = images.extent[1] * images.extent[2];
  Samples samples;
  samples.features.reserve(images.values.size());
  for (const std::uint8_t pixel : images.values)
    samples.features.push_back(static_cast<float>(pixel) / 255.0F);
  samples.labels.assign(labels.values.begin(), labels.values.end());
  return samples;
}

}  // namespace

IdxArray read_idx(const std::string& path) {
  const Reader file(path);
  std::array<std::uint8_t, 4> magic{};
  file.read(magic);
  if (magic[0] != 0 || magic[1] != 0 || magic[2] != type_of_bytes || magic[3] == 0)
    file.refuse("is no IDX file of bytes");
  IdxArray array;
  array.extent = read_extent(file, magic[3]);
  std::size_t count = 1;
  for (const std::int64_t extent : array.extent) count *= static_cast<std::size_t>(extent);
  // By pieces: a file that promises too much must not take the memory.
  constexpr std::size_t piece = std::size_t{1} << 24;
  while (array.values.size() < count) {
    const std::size_t begin = array.values.size();
    array.values.resize(std::min(count, begin + piece));
    file.read(std::span(array.values).subspan(begin));
  }
  std::array<std::uint8_t, 1> surplus{};
  if (file.read_some(surplus) > 0) file.refuse("is longer than it says");
  return array;
}

DataSet read_idx_data_set(const std::string& folder) {
  std::int64_t width = 0;
  std::int64_t test_width = 0;
  DataSet data{};
  data.train = read_part(folder + "/train", width);
  data.test = read_part(folder + "/t10k", test_width);
  if (width != test_width)
    throw Error(ErrorKind::input, fmt::format("{}: images to train with have {} pixels, and those to test {}",
                                              folder, width, test_width));
  data.width = static_cast<int>(width);
  data.classes = std::max(2, std::ranges::max(data.train.labels) + 1);
  if (const int most = std::ranges::max(data.test.labels); most >= data.classes)
    throw Error(ErrorKind::input,
                fmt::format("{}: the label {} to test with has no sample to train with", folder, most));
  return data;
}

}  // namespace selvage::sgd
