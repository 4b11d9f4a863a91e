#pragma once

#include "sgd/io/data_order.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace selvage::sgd {

/// FNV-1a over the bytes, going on from `hash`.
[[nodiscard]] std::uint64_t hash_bytes(const void* bytes, std::size_t count,
                                       std::uint64_t hash = 0xcbf29ce484222325U);

enum class Part { train, test };

/// Labelled samples, of which each rank reads those that it needs. Nothing here is collective.
class SampleSource {
 public:
  struct Shape {
    int width;           ///< features of a sample
    int classes;         ///< labels are 0 ... classes-1; 0: as many as the labels to train with say
    std::int64_t train;  ///< samples, at least one
    std::int64_t test;
    [[nodiscard]] std::int64_t count(Part part) const { return part == Part::train ? train : test; }
  };

  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;
  virtual ~SampleSource() = default;

  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// What messages call it.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// \param samples   in any order
  /// \param features  samples x width, in host memory \param labels  as many as samples; what they hold isn't checked
  /// \throws Error{input} for what can't be read
  virtual void read(Part part, std::span<const std::int64_t> samples, float* features, int* labels) const = 0;
  /// The samples of a range, as they follow each other.
  virtual void read_range(Part part, SampleRange range, float* features, int* labels) const;

 protected:
  SampleSource(std::string path, const Shape& shape) : path_(std::move(path)), shape_(shape) {}

 private:
  std::string path_;
  Shape shape_;
};

/// What all ranks know of a data set.
struct DataFacts {
  SampleSource::Shape shape;
  std::uint64_t
      fingerprint;  ///< of every feature and label, to tell whether a checkpoint was made with these data
};

/// Reads everything once, each rank its share, and no more than some MiB at a time. Collective.
/// \throws AgreedError{input} that names the source and a label out of range, or a feature that isn't finite
[[nodiscard]] DataFacts survey(MPI_Comm comm, const SampleSource& source);

/// In host memory.
struct Samples {
  std::vector<float> features;  ///< samples x width, row-major
  std::vector<int> labels;
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

class SamplesInMemory final : public SampleSource {
 public:
  SamplesInMemory(int width, int classes, Samples train, Samples test)
      : SampleSource("memory", {width, classes, train.count(), test.count()}),
        train_(std::move(train)),
        test_(std::move(test)) {}
  void read(Part part, std::span<const std::int64_t> samples, float* features, int* labels) const override;

 private:
  Samples train_;
  Samples test_;
};

}  // namespace selvage::sgd
