#include "sgd/io/data_set.hpp"

#include "common/rank_sums.hpp"

#include <selvage/agreement.hpp>
#include <selvage/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace selvage::sgd {
namespace {

constexpr std::array both_parts{Part::train, Part::test};

std::string_view name_of(Part part) {
  return part == Part::train ? "train" : "test";
}

[[noreturn]] void refuse(const SampleSource& source, const std::string& why) {
  throw Error(ErrorKind::input, fmt::format("{}: {}", source.path(), why));
}

void require_usable(const SampleSource& source, Part part, SampleRange range, const Samples& samples) {
  const auto [width, classes, train, test] = source.shape();
  for (std::size_t i = 0; i < samples.labels.size(); ++i) {
    const int label = samples.labels[i];
    if (label < 0 || (classes > 0 && label >= classes))
      refuse(source, fmt::format("{}_labels[{}] is {}, and labels go from 0 to {}", name_of(part),
                                 range.begin + static_cast<std::int64_t>(i), label, classes - 1));
  }
  for (std::size_t i = 0; i < samples.features.size(); ++i) {
    if (std::isfinite(samples.features[i])) continue;
    const auto in_range = static_cast<std::int64_t>(i) / width;
    refuse(source, fmt::format("{}_features[{}, {}] isn't finite", name_of(part), range.begin + in_range,
                               static_cast<std::int64_t>(i) % width));
  }
}

/// What a rank finds in its share; sums and the largest are the same however samples are shared out.
struct Findings {
  std::uint64_t hash = 0;  ///< the sum of all samples'
  std::array<int, 2> largest_label = {};

  void add(Part part, SampleRange range, const Samples& samples, int width) {
    const auto of_sample = static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < samples.labels.size(); ++i) {
      const std::array<std::int64_t, 3> about{part == Part::train ? 0 : 1,
                                              range.begin + static_cast<std::int64_t>(i), samples.labels[i]};
      hash += hash_bytes(samples.features.data() + i * of_sample, of_sample * sizeof(float),
                         hash_bytes(about.data(), sizeof(about)));
      int& largest = largest_label[part == Part::train ? 0 : 1];
      largest = std::max(largest, samples.labels[i]);
    }
  }
};

Findings look_through_share(const SampleSource& source, int ranks, int rank) {
  const int width = source.shape().width;
  const std::int64_t most = std::max<std::int64_t>(1, (std::int64_t{1} << 22) / width);
  Findings findings;
  for (const Part part : both_parts) {
    const std::int64_t count = source.shape().count(part);
    const std::int64_t end = count * (rank + 1) / ranks;
    for (std::int64_t begin = count * rank / ranks; begin < end; begin += most) {
      const SampleRange range{begin, std::min(end, begin + most)};
      Samples samples{std::vector<float>(static_cast<std::size_t>(range.size() * width)),
                      std::vector<int>(static_cast<std::size_t>(range.size()))};
      source.read_range(part, range, samples.features.data(), samples.labels.data());
      require_usable(source, part, range, samples);
      findings.add(part, range, samples, width);
    }
  }
  return findings;
}

}  // namespace

std::uint64_t hash_bytes(const void* bytes, std::size_t count, std::uint64_t hash) {
  for (const unsigned char byte : std::span(static_cast<const unsigned char*>(bytes), count))
    hash = (hash ^ byte) * 0x100000001b3U;
  return hash;
}

void SampleSource::read_range(Part part, SampleRange range, float* features, int* labels) const {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(range.size()));
  std::iota(samples.begin(), samples.end(), range.begin);
  read(part, samples, features, labels);
}

DataFacts survey(MPI_Comm comm, const SampleSource& source) {
  int rank = 0;
  int ranks = 1;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  Findings own;
  // Others wait for whoever's disk is slowest.
  together(
      comm, "the look through the data", [&] { own = look_through_share(source, ranks, rank); },
      io_timeout_ms());
  // By halves, so that no sum of signed numbers overflows.
  const std::array<std::int64_t, 2> halves{static_cast<std::int64_t>(own.hash & 0xffffffffU),
                                           static_cast<std::int64_t>(own.hash >> 32)};
  const auto sums = app::sum_counts(comm, "the fingerprint of the data", halves);
  const auto largest = [&](std::size_t part) {
    return static_cast<int>(app::max_over_ranks(comm, "the largest label", own.largest_label.at(part)));
  };
  DataFacts facts{source.shape(),
                  static_cast<std::uint64_t>(sums[0]) + (static_cast<std::uint64_t>(sums[1]) << 32)};
  const std::array all{largest(0), largest(1)};
  if (facts.shape.classes == 0) facts.shape.classes = std::max(2, all[0] + 1);
  if (all[1] >= facts.shape.classes) {
    throw AgreedError(
        ErrorKind::input,
        fmt::format("{}: the label {} to test with has no sample to train with", source.path(), all[1]), 0,
        0);
  }
  return facts;
}

void SamplesInMemory::read(Part part, std::span<const std::int64_t> samples, float* features,
                           int* labels) const {
  const Samples& from = part == Part::train ? train_ : test_;
  const std::int64_t width = shape().width;
  for (const std::int64_t sample : samples) {
    features = std::copy_n(from.features.begin() + sample * width, width, features);
    *labels++ = from.labels[static_cast<std::size_t>(sample)];
  }
}

}  // namespace selvage::sgd
