#include "sgd/io/data_set.hpp"

#include "expect_error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace selvage::sgd {
namespace {

using app::testing_support::error_message;

constexpr int width = 2;

Samples numbered_samples(int count) {
  Samples samples;
  for (int sample = 0; sample < count; ++sample) {
    samples.features.insert(samples.features.end(), {static_cast<float>(sample), 0.5F});
    samples.labels.push_back(sample % 3);
  }
  return samples;
}

TEST(Survey, DoesntDependOnTheRanks) {
  const SamplesInMemory source(width, 3, numbered_samples(11), numbered_samples(4));
  EXPECT_EQ(survey(MPI_COMM_WORLD, source).fingerprint, survey(MPI_COMM_SELF, source).fingerprint);
}

TEST(Survey, TellsDataApart) {
  const auto fingerprint = [](const Samples& train, const Samples& test) {
    return survey(MPI_COMM_WORLD, SamplesInMemory(width, 3, train, test)).fingerprint;
  };
  const Samples train = numbered_samples(11);
  const Samples test = numbered_samples(4);
  const std::uint64_t original = fingerprint(train, test);
  EXPECT_EQ(fingerprint(train, test), original);
  EXPECT_NE(fingerprint(test, train), original);
  Samples changed = train;
  changed.features[7] = -changed.features[7];
  EXPECT_NE(fingerprint(changed, test), original);
  changed = train;
  std::swap(changed.labels[1], changed.labels[2]);
  EXPECT_NE(fingerprint(changed, test), original);
  // The same samples in another order are other batches.
  std::swap(changed.features[2], changed.features[4]);
  EXPECT_NE(fingerprint(changed, test), original);
}

TEST(Survey, CountsTheClassesThatLabelsShow) {
  EXPECT_EQ(survey(MPI_COMM_WORLD, SamplesInMemory(width, 0, numbered_samples(9), numbered_samples(1)))
                .shape.classes,
            3);
}

TEST(Survey, NamesOnAllRanksWhatCantBeUsed) {
  const auto refusal = [](int classes, const Samples& train, const Samples& test) {
    return error_message(ErrorKind::input, [&] {
      static_cast<void>(survey(MPI_COMM_WORLD, SamplesInMemory(width, classes, train, test)));
    });
  };
  const Samples good = numbered_samples(9);
  Samples bad = good;
  bad.labels[5] = 3;
  EXPECT_NE(refusal(3, bad, good).find("train_labels[5] is 3, and labels go from 0 to 2"), std::string::npos);
  EXPECT_NE(refusal(0, good, bad).find("the label 3 to test with has no sample"), std::string::npos);
  bad.labels[5] = -1;
  EXPECT_NE(refusal(0, bad, good).find("train_labels[5] is -1"), std::string::npos);
  bad = good;
  bad.features[13] = std::numeric_limits<float>::infinity();
  EXPECT_NE(refusal(3, good, bad).find("test_features[6, 1] isn't finite"), std::string::npos);
}

}  // namespace
}  // namespace selvage::sgd
