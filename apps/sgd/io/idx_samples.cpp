#include "sgd/io/idx_file.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

namespace selvage::sgd {
namespace {

IdxFile open_either(const std::string& path) {
  std::error_code ignored;
  return IdxFile(std::filesystem::exists(path + ".gz", ignored) ? path + ".gz" : path);
}

std::int64_t pixels_of(const IdxFile& images) {
  return images.extent()[1] * images.extent()[2];
}

}  // namespace

IdxSamples::IdxSamples(const std::string& folder)
    : IdxSamples(folder, Parts{open(folder + "/train"), open(folder + "/t10k")}) {}

IdxSamples::IdxSamples(const std::string& folder, Parts parts)
    : SampleSource(folder, shape_of(folder, parts)), parts_(std::move(parts)) {}

IdxSamples::Files IdxSamples::open(const std::string& prefix) {
  Files files{open_either(prefix + "-images-idx3-ubyte"), open_either(prefix + "-labels-idx1-ubyte")};
  if (files.images.extent().size() != 3 || files.labels.extent().size() != 1 ||
      files.images.extent()[0] != files.labels.extent()[0])
    throw Error(ErrorKind::input,
                fmt::format("{}: images must be samples x rows x columns, and as many labels", prefix));
  return files;
}

SampleSource::Shape IdxSamples::shape_of(const std::string& folder, const Parts& parts) {
  const auto& [train, test] = parts;
  if (pixels_of(train.images) != pixels_of(test.images))
    throw Error(ErrorKind::input, fmt::format("{}: images to train with have {} pixels, and those to test {}",
                                              folder, pixels_of(train.images), pixels_of(test.images)));
  if (pixels_of(train.images) > std::numeric_limits<int>::max())
    throw Error(ErrorKind::input, fmt::format("{}: images have more than 2^31 pixels", folder));
  return {static_cast<int>(pixels_of(train.images)), 0, train.labels.extent()[0], test.labels.extent()[0]};
}

void IdxSamples::read(Part part, std::span<const std::int64_t> samples, float* features, int* labels) const {
  const Files& files = part == Part::train ? parts_.train : parts_.test;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape().width));
  for (const std::int64_t sample : samples) {
    files.images.read(sample * shape().width, pixels);
    features = std::ranges::transform(pixels, features, [](std::uint8_t pixel) {
                 return static_cast<float>(pixel) / 255.0F;
               }).out;
    std::uint8_t label = 0;
    files.labels.read(sample, {&label, 1});
    *labels++ = label;
  }
}

}  // namespace selvage::sgd
