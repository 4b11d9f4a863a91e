/// Writes a data set that a perceptron can learn: sample_data PATH [FAULT]. Samples of a class lie around its corner of a
/// cube. FAULT: label (out of range), nan, shape (fewer labels), width (of the test samples), type (fp64).
#include "common/hdf5_file.hpp"
#include "sgd/random.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace selvage;

constexpr std::int64_t classes = 4;

struct Part {
  std::int64_t samples;
  std::int64_t width;
  std::vector<float> features = {};
  std::vector<std::int32_t> labels = {};
};

void fill(Part& part, sgd::Random& random) {
  for (std::int64_t sample = 0; sample < part.samples; ++sample) {
    const auto label = static_cast<std::int32_t>(random.below(classes));
    part.labels.push_back(label);
    for (std::int64_t j = 0; j < part.width; ++j)
      part.features.push_back(((label >> (j % 2)) & 1 ? 1.0F : 0.0F) + random.uniform() - 0.5F);
  }
}

template <class T>
app::ArrayBlock whole(const std::string& name, const std::vector<std::int64_t>& extent,
                      const std::vector<T>& values) {
  const app::ArrayBox box{std::vector<std::int64_t>(extent.size(), 0), extent};
  return app::array_block(name, extent, box, std::span<const T>(values));
}

void write(const std::string& path, const std::string& fault) {
  sgd::Random random(7, 0);
  Part train{.samples = 203, .width = 6};
  Part test{.samples = 50, .width = fault == "width" ? 5 : 6};
  fill(train, random);
  fill(test, random);
  if (fault == "label") train.labels[17] = classes;
  if (fault == "nan") test.features[13] = std::numeric_limits<float>::quiet_NaN();
  if (fault == "shape") train.labels.pop_back();
  const std::vector<double> doubles(train.features.begin(), train.features.end());
  const std::vector<std::int64_t> extent{train.samples, train.width};
  const auto labels = static_cast<std::int64_t>(train.labels.size());
  const std::array arrays{fault == "type" ? whole("train_features", extent, doubles)
                                          : whole("train_features", extent, train.features),
                          whole("train_labels", {labels}, train.labels),
                          whole("test_features", {test.samples, test.width}, test.features),
                          whole("test_labels", {test.samples}, test.labels)};
  app::write_hdf5(MPI_COMM_WORLD, path, arrays, {{"classes", classes}});
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc >= 2) write(argv[1], argc > 2 ? argv[2] : "");
  MPI_Finalize();
  return argc >= 2 ? 0 : 2;
}
