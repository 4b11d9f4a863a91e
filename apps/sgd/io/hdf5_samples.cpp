#include "sgd/io/hdf5_samples.hpp"

#include <selvage/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <span>

namespace selvage::sgd {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::input, fmt::format("{}: {}", path, why));
}

std::string array(Part part, const char* what) {
  return fmt::format("{}_{}", part == Part::train ? "train" : "test", what);
}

/// Samples and features of each.
std::vector<std::int64_t> shape_of(const app::Hdf5Reader& file, const std::string& path, Part part) {
  const std::string features = array(part, "features");
  const std::string labels = array(part, "labels");
  const auto shape = file.extent(features);
  const auto count = file.extent(labels);
  if (shape.size() != 2 || count.size() != 1 || shape[0] != count[0] || shape[0] < 1 || shape[1] < 1 ||
      shape[1] > std::numeric_limits<int>::max()) {
    refuse(path, fmt::format("{} and {} must be samples x features and as many labels, at least one",
                             features, labels));
  }
  return shape;
}

SampleSource::Shape read_shape(const std::string& path) {
  const app::Hdf5Reader file(path);
  const std::int64_t classes = file.integer("classes");
  if (classes < 2 || classes > 1000000) refuse(path, fmt::format("classes is {}, not 2 to 1000000", classes));
  const auto train = shape_of(file, path, Part::train);
  const auto test = shape_of(file, path, Part::test);
  if (test[1] != train[1])
    refuse(path,
           fmt::format("test_features has {} features per sample, and train_features {}", test[1], train[1]));
  return {static_cast<int>(train[1]), static_cast<int>(classes), train[0], test[0]};
}

}  // namespace

Hdf5Samples::Hdf5Samples(const std::string& path) : SampleSource(path, read_shape(path)), file_(path) {}

void Hdf5Samples::read(Part part, std::span<const std::int64_t> samples, float* features, int* labels) const {
  const std::size_t values = samples.size() * static_cast<std::size_t>(shape().width);
  file_.read_rows(array(part, "features"), samples, std::span(features, values));
  file_.read_rows(array(part, "labels"), samples, std::span(labels, samples.size()));
}

void Hdf5Samples::read_range(Part part, SampleRange range, float* features, int* labels) const {
  const auto count = static_cast<std::size_t>(range.size());
  const std::int64_t width = shape().width;
  file_.read(array(part, "features"), {{range.begin, 0}, {range.end, width}},
             std::span(features, count * static_cast<std::size_t>(width)));
  file_.read(array(part, "labels"), {{range.begin}, {range.end}}, std::span(labels, count));
}

}  // namespace selvage::sgd
