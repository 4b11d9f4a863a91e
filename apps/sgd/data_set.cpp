#include "sgd/data_set.hpp"

#include "common/hdf5_file.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <span>

namespace selvage::sgd {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::input, fmt::format("{}: {}", path, why));
}

template <class T>
std::vector<T> read_whole(const app::Hdf5Reader& file, const std::string& name,
                          const std::vector<std::int64_t>& extent) {
  const app::ArrayBox box{std::vector<std::int64_t>(extent.size(), 0), extent};
  std::vector<T> values(static_cast<std::size_t>(box.count()));
  file.read(name, box, std::span<T>(values));
  return values;
}

Samples read_samples(const app::Hdf5Reader& file, const std::string& path, const std::string& part,
                     int classes) {
  const std::string features = part + "_features";
  const std::string labels = part + "_labels";
  const auto shape = file.extent(features);
  const auto count = file.extent(labels);
  if (shape.size() != 2 || count.size() != 1 || shape[0] != count[0] || shape[0] < 1 || shape[1] < 1 ||
      shape[1] > std::numeric_limits<int>::max()) {
    refuse(path, fmt::format("{} and {} must be samples x features and as many labels, at least one",
                             features, labels));
  }
  Samples samples{read_whole<float>(file, features, shape), read_whole<std::int32_t>(file, labels, count)};
  for (std::size_t i = 0; i < samples.labels.size(); ++i) {
    if (samples.labels[i] < 0 || samples.labels[i] >= classes) {
      refuse(path, fmt::format("{}[{}] is {}, and labels go from 0 to {}", labels, i, samples.labels[i],
                               classes - 1));
    }
  }
  for (std::size_t i = 0; i < samples.features.size(); ++i) {
    if (std::isfinite(samples.features[i])) continue;
    const auto width = static_cast<std::size_t>(shape[1]);
    refuse(path, fmt::format("{}[{}, {}] isn't finite", features, i / width, i % width));
  }
  return samples;
}

}  // namespace

std::uint64_t hash_bytes(const void* bytes, std::size_t count, std::uint64_t hash) {
  for (const unsigned char byte : std::span(static_cast<const unsigned char*>(bytes), count))
    hash = (hash ^ byte) * 0x100000001b3U;
  return hash;
}

std::uint64_t DataSet::fingerprint() const {
  std::uint64_t hash = hash_bytes(&width, sizeof(width));
  for (const Samples* part : {&train, &test}) {
    hash = hash_bytes(part->features.data(), part->features.size() * sizeof(float), hash);
    hash = hash_bytes(part->labels.data(), part->labels.size() * sizeof(int), hash);
  }
  return hash;
}

DataSet read_data_set(const std::string& path) {
  const app::Hdf5Reader file(path);
  const std::int64_t classes = file.integer("classes");
  if (classes < 2 || classes > 1000000) refuse(path, fmt::format("classes is {}, not 2 to 1000000", classes));
  DataSet data{};
  data.classes = static_cast<int>(classes);
  data.train = read_samples(file, path, "train", data.classes);
  data.test = read_samples(file, path, "test", data.classes);
  const std::int64_t width = file.extent("train_features")[1];
  if (file.extent("test_features")[1] != width)
    refuse(path, fmt::format("test_features has {} features per sample, and train_features {}",
                             file.extent("test_features")[1], width));
  data.width = static_cast<int>(width);
  return data;
}

}  // namespace selvage::sgd
