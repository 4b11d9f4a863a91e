/// Writes a data set that a perceptron can learn: sample_data PATH [FAULT]. Samples of a class lie around its corner of a
/// cube. Where PATH is a folder, they are files in the IDX format, of images of 2 x 3 pixels. FAULT: label (out of range), nan, shape (fewer labels), width (of the test samples), type (fp64).
#include "common/hdf5_file.hpp"
#include "sgd/model/random.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <utility>
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

void write_bytes(const std::string& path, const std::vector<std::int64_t>& extent,
                 const std::vector<char>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write("\0\0\x08", 3);
  file.put(static_cast<char>(extent.size()));
  for (const std::int64_t length : extent)
    for (const int shift : {24, 16, 8, 0}) file.put(static_cast<char>(length >> shift & 0xff));
  file.write(values.data(), static_cast<std::streamsize>(values.size()));
}

void write_idx(const std::string& folder) {
  sgd::Random random(7, 0);
  for (const auto& [name, samples] : {std::pair("train", 203), std::pair("t10k", 50)}) {
    Part part{.samples = samples, .width = 6};
    fill(part, random);
    std::vector<char> pixels;
    for (const float feature : part.features) pixels.push_back(static_cast<char>(100 * feature + 50));
    const std::string prefix = folder + "/" + name;
    write_bytes(prefix + "-images-idx3-ubyte", {samples, 2, 3}, pixels);
    write_bytes(prefix + "-labels-idx1-ubyte", {samples}, {part.labels.begin(), part.labels.end()});
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc >= 2 && std::filesystem::is_directory(argv[1])) {
    write_idx(argv[1]);
  } else if (argc >= 2) {
    write(argv[1], argc > 2 ? argv[2] : "");
  }
  MPI_Finalize();
  return argc >= 2 ? 0 : 2;
}
